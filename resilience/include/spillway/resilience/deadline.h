// The instant after which nobody waits for the answer any more.
#pragma once

#include <algorithm>

#include "spillway/resilience/time.h"

namespace spillway::resilience {

// A value; `none()` never expires.
class Deadline {
 public:
  constexpr Deadline() noexcept = default;

  static constexpr Deadline none() noexcept { return {}; }
  static constexpr Deadline at(Instant instant) noexcept { return Deadline(instant); }
  // `time` from `now`; a negative time is an expired deadline.
  static constexpr Deadline after(Instant now, Duration time) noexcept {
    return Deadline(add_saturating(now, std::max(time, Duration::zero())));
  }

  constexpr bool is_none() const noexcept { return at_ == Instant::max(); }
  constexpr Instant instant() const noexcept { return at_; }
  // Expired from the instant itself on: no time left means do not start.
  constexpr bool expired(Instant now) const noexcept { return now >= at_; }
  // Duration::max() when there is none; never negative.
  constexpr Duration remaining(Instant now) const noexcept { return is_none() ? Duration::max() : elapsed(now, at_); }
  // True if something that takes `delay` leaves time to do anything afterwards.
  constexpr bool fits(Instant now, Duration delay) const noexcept { return is_none() || delay < remaining(now); }

  friend constexpr Deadline earlier(Deadline a, Deadline b) noexcept { return a.at_ < b.at_ ? a : b; }
  friend constexpr bool operator==(Deadline, Deadline) noexcept = default;

 private:
  constexpr explicit Deadline(Instant at) noexcept : at_(at) {}
  Instant at_ = Instant::max();
};

}  // namespace spillway::resilience
