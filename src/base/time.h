// Time as the core sees it: always an argument, never read from a clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace spillway::base {

using Duration = std::chrono::nanoseconds;

// Monotonic time since an arbitrary origin. Nothing in it can be compared with wall-clock time.
struct MonotonicTimeline {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonotonicTimeline>;
  static constexpr bool is_steady = true;
};
using Instant = MonotonicTimeline::time_point;

// Elapsed time; a clock that went back counts as no time at all.
constexpr Duration elapsed(Instant from, Instant to) { return to > from ? to - from : Duration::zero(); }

constexpr double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace spillway::base
