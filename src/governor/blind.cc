#include "governor/blind.h"

#include <algorithm>
#include <cmath>

namespace spillway::governor {

namespace {
constexpr double kPerSecond = 0.93;
constexpr double kTrickle = 20;  // events/s
}  // namespace

double decay(double rate, double seconds) {
  return std::min(rate, std::max(kTrickle, rate * std::pow(kPerSecond, std::max(0.0, seconds))));
}

void BlindFallback::enter(double t, double backlog_budget, double total_rate) {
  if (!lost_) lost_ = Lost{backlog_budget, total_rate, backlog_budget, t};
}

void BlindFallback::limit_total(double total) {
  if (lost_) lost_->total = std::min(lost_->total, total);
}

double BlindFallback::budget(double t, double live_rate) {
  if (!lost_) return 0;
  lost_->decayed = decay(lost_->decayed, t - lost_->decayed_at);
  lost_->decayed_at = std::max(t, lost_->decayed_at);
  return std::max(0.0, std::min({lost_->budget, lost_->decayed, lost_->total - live_rate}));
}

}  // namespace spillway::governor
