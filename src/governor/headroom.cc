#include "governor/headroom.h"

#include <algorithm>
#include <cmath>

namespace spillway::governor {

namespace {
constexpr double kStep = 0.005;  // per window over the ceiling
constexpr double kMost = 0.3;
// The signal covers all answers; live traffic alone, being fewer, has the noisier percentile and is over more often.
constexpr double kShareOfTolerance = 0.8;
constexpr double kDip = 0.85;  // delivered below this share of sent: a pause, not load
constexpr double kDipRemembersS = 3;
constexpr double kBelievable = 20;  // completions that make a dip believable
}  // namespace

double Trim::on_window(double pressure, double dead_time_s) {
  const double lasting = std::min(pressure, previous_pressure_);
  previous_pressure_ = pressure;
  if (lasting > 0.75) {
    value_ = std::max(0.1, value_ * (1 - 0.15 / std::sqrt(dead_time_s)));
  } else if (pressure < 0.6) {
    value_ = std::min(1.0, value_ * (1 + 0.03 / std::sqrt(dead_time_s)));
  }
  return value_;
}

void Trim::restart(double value) {
  value_ = value;
  previous_pressure_ = 0;
}

void ToleranceHeadroom::on_window(const Window& w) {
  if (w.completions >= kBelievable && w.delivered < kDip * w.sent_earlier) dip_at_ = w.t;
  const bool load_did_it = w.over_ceiling && w.backlog_sends && w.t - dip_at_ > kDipRemembersS;
  const double tolerated = kShareOfTolerance * w.tolerance;
  const double step = load_did_it ? kStep * (1 - tolerated) : -kStep * tolerated;
  value_ = std::clamp(value_ + step, 0.0, kMost);
}

double ToleranceHeadroom::share_of_growth() const { return value_ > 0.01 ? std::max(0.1, 1 - value_ / 0.05) : 1; }

}  // namespace spillway::governor
