// Time as every policy sees it: an argument on a monotonic line, in nanoseconds. No policy reads a clock by itself.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>

namespace spillway::resilience {

using Duration = std::chrono::nanoseconds;

// The line that `Instant` lies on. It has no now(): whoever owns a clock passes the reading in.
struct MonotonicLine {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonotonicLine>;
  static constexpr bool is_steady = true;
};
using Instant = MonotonicLine::time_point;

// Takes over a reading of any other monotonic clock; all readings given to one policy must come from the same clock.
template <typename Clock, typename D>
  requires(Clock::is_steady)
constexpr Instant to_instant(std::chrono::time_point<Clock, D> reading) noexcept {
  return Instant(std::chrono::duration_cast<Duration>(reading.time_since_epoch()));
}

// Elapsed time; a clock that went back counts as no time at all.
constexpr Duration elapsed(Instant from, Instant to) noexcept { return to > from ? to - from : Duration::zero(); }

// `at + d`, held at the last representable instant instead of overflowing. `d` must not be negative.
constexpr Instant add_saturating(Instant at, Duration d) noexcept {
  return at.time_since_epoch() > Duration::max() - d ? Instant::max() : at + d;
}

// A clock is anything with `Instant now()`; the blocking driver of a pipeline also wants `void sleep(Duration)`.
template <typename T>
concept ClockLike = requires(T& clock) {
  { clock.now() } -> std::convertible_to<Instant>;
};

}  // namespace spillway::resilience
