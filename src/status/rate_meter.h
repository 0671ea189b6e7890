// How fast a total grows, over the last ten seconds.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/time.h"

namespace spillway::status {

class RateMeter {
 public:
  static constexpr base::Duration kWindow = std::chrono::seconds(10);
  // Less history than this says nothing about a rate.
  static constexpr base::Duration kLeast = std::chrono::seconds(1);

  // `total` counts from any origin. One that goes back (a new life of what is counted) starts the history again.
  void observe(base::Instant now, std::int64_t total) {
    if (!samples_.empty() && total < samples_.back().total) samples_.clear();
    if (!samples_.empty() && base::elapsed(samples_.back().at, now) < kSpacing) {
      latest_ = total;
      return;
    }
    samples_.push_back({now, total});
    latest_ = total;
    forget_before(now);
  }

  // Events/s up to the last total, spread over the time until `now`: a total that is no longer fed decays to zero
  // instead of standing still. Empty until there is a second of history.
  std::optional<double> per_second(base::Instant now) {
    forget_before(now);
    if (samples_.empty()) return std::nullopt;
    const base::Duration span = base::elapsed(samples_.front().at, now);
    if (span < kLeast) return std::nullopt;
    return static_cast<double>(latest_ - samples_.front().total) / base::seconds(span);
  }

 private:
  struct Sample {
    base::Instant at;
    std::int64_t total;
  };
  static constexpr base::Duration kSpacing = std::chrono::milliseconds(200);

  // The newest sample that is at least a window old stays as the one to count from.
  void forget_before(base::Instant now) {
    while (samples_.size() > 1 && base::elapsed(samples_[1].at, now) >= kWindow) samples_.pop_front();
  }

  std::deque<Sample> samples_;  // at most kWindow / kSpacing and two
  std::int64_t latest_ = 0;
};

}  // namespace spillway::status
