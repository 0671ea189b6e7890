// Whether what a downstream suffers from, latency or lag, climbs: minute for minute, over the last three.
#pragma once

#include <deque>
#include <optional>

#include "base/time.h"

namespace spillway::status {

class LatencyTrend {
 public:
  static constexpr base::Duration kSpacing = std::chrono::seconds(1);
  // Each minute's median at least so much above the one before. A step, as at the start of a drain, is one rise.
  static constexpr double kRise = 1.05;

  void observe(base::Instant now, double ms);

  // The median of the last minute ÷ that of two minutes before, where each of the three was above the one before;
  // empty otherwise, and while less than half of any minute is known.
  std::optional<double> climb(base::Instant now) const;

 private:
  struct Sample {
    base::Instant at;
    double ms;
  };
  std::optional<double> median(base::Instant now, int minutes_ago) const;

  std::deque<Sample> samples_;  // of three minutes, kSpacing apart
};

}  // namespace spillway::status
