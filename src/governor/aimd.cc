#include "governor/aimd.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace spillway::governor {

AimdLaw::AimdLaw(GovernorSpec spec) : spec_(std::move(spec)), windows_(spec_.signals) {}

Decision AimdLaw::tick(base::Instant now, const TickInputs& in) {
  const double most = spec_.max.value_or(std::numeric_limits<double>::infinity());
  if (!begun_) {
    begun_ = true;
    total_ = std::max(in.live_rate, spec_.min);
  }
  if (const auto window = windows_.next(now, in)) {
    cause_ = window->worst;
    const bool healthy = cause_.kind == CauseKind::kHealthy;
    state_ = healthy ? State::kTracking : State::kBackingOff;
    total_ = healthy ? std::min(most, total_ + spec_.aimd_increase) : std::max(spec_.min, total_ * spec_.aimd_decrease);
  }
  Decision d;
  d.total_rate = total_;
  d.backlog_budget = std::max(spec_.backlog_min, total_ - in.live_rate);
  d.live_rate = in.live_rate;
  d.state = state_;
  d.cause = cause_;
  return d;
}

}  // namespace spillway::governor
