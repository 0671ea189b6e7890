#include "governor/gradient.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace spillway::governor {

namespace {
constexpr double kLongWindows = 600;
constexpr double kTolerance = 1.5;  // the present may be this much above the long term
constexpr double kLeastGradient = 0.5;
constexpr double kSmoothing = 0.2;
constexpr double kOverCeiling = 0.9;  // cap for windows over a ceiling, which Gradient2 itself does not know
}  // namespace

GradientLaw::GradientLaw(GovernorSpec spec) : spec_(std::move(spec)), windows_(spec_.signals) {}

void GradientLaw::learn(const PlainWindows::Window& window) {
  windows_seen_ = std::min(windows_seen_ + 1, kLongWindows);
  long_mean_s_ += (window.mean_s - long_mean_s_) / windows_seen_;
  if (long_mean_s_ > 2 * window.mean_s) long_mean_s_ *= 0.95;  // as Gradient2: come down faster after an overload
  cause_ = window.worst;
  const bool healthy = cause_.kind == CauseKind::kHealthy;
  state_ = healthy ? State::kTracking : State::kBackingOff;
  double gradient =
      window.mean_s > 0 ? std::clamp(kTolerance * long_mean_s_ / window.mean_s, kLeastGradient, 1.0) : 1.0;
  if (!healthy) gradient = std::min(gradient, kOverCeiling);
  const double wanted = gradient * total_ + std::sqrt(total_);
  total_ += kSmoothing * (wanted - total_);
  total_ = std::clamp(total_, spec_.min, spec_.max.value_or(std::numeric_limits<double>::infinity()));
}

Decision GradientLaw::tick(base::Instant now, const TickInputs& in) {
  if (!begun_) {
    begun_ = true;
    total_ = std::max(in.live_rate, spec_.min);
  }
  if (const auto window = windows_.next(now, in)) learn(*window);
  Decision d;
  d.total_rate = total_;
  d.backlog_budget = std::max(spec_.backlog_min, total_ - in.live_rate);
  d.live_rate = in.live_rate;
  d.state = state_;
  d.cause = cause_;
  return d;
}

}  // namespace spillway::governor
