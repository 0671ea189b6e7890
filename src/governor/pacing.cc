#include "governor/pacing.h"

#include <algorithm>
#include <cmath>

namespace spillway::governor {

namespace {
constexpr double kBurstS = 0.05;
}

// Below 20/s a burst of 50 ms is less than one event, which would never leave.
double Pacer::burst() const { return std::max(1.0, rate_ * kBurstS); }

void Pacer::set_rate(double events_per_s) {
  rate_ = std::max(0.0, events_per_s);
  if (rate_ == 0) tokens_ = std::min(tokens_, 0.0);
  if (std::isfinite(rate_)) tokens_ = std::min(tokens_, burst());
}

void Pacer::refill(base::Instant now) {
  if (running_ && std::isfinite(rate_)) {
    tokens_ = std::min(burst(), tokens_ + rate_ * base::seconds(base::elapsed(last_, now)));
  }
  running_ = true;
  last_ = now;
}

void Pacer::pause() {
  running_ = false;
  tokens_ = std::min(tokens_, 0.0);
}

long long Pacer::take(long long wanted) {
  if (!running_ || wanted <= 0) return 0;
  if (!std::isfinite(rate_)) return wanted;
  const long long granted = std::clamp(static_cast<long long>(std::floor(tokens_)), 0LL, wanted);
  tokens_ -= static_cast<double>(granted);
  return granted;
}

void Pacer::charge(double events, double most_debt_s) {
  if (std::isfinite(rate_)) tokens_ = std::max(tokens_ - events, -most_debt_s * rate_);
}

}  // namespace spillway::governor
