#include "governor/baseline.h"

#include <algorithm>

namespace spillway::governor {

namespace {
constexpr double kMemoryS = 180;
// A minimum over many noisy windows lies below the truth; these lift it back.
constexpr double kMeanLift = 1.03;
constexpr double kP99Lift = 1.08;
}  // namespace

double SlidingMinimum::add(double t, double value, double kept_s) {
  while (!candidates_.empty() && candidates_.back().value >= value) candidates_.pop_back();
  candidates_.push_back({t, value});
  while (candidates_.front().t < t - kept_s) candidates_.pop_front();
  return candidates_.front().value;
}

void Baseline::take(double t, double mean_s, double p99_s) {
  known_ = true;
  mean_s_ = kMeanLift * means_.add(t, mean_s, kMemoryS);
  p99_s_ = std::max(kP99Lift * p99s_.add(t, p99_s, kMemoryS), mean_s_);
}

void Baseline::learn(double t, const SignalPool::Summary& pool) {
  if (pool.full || !known_) take(t, pool.mean_s + pool.standard_error, pool.p99_s);
}

void Baseline::restart(double t, double mean_s, double p99_s) {
  means_.clear();
  p99s_.clear();
  take(t, mean_s, p99_s);
}

}  // namespace spillway::governor
