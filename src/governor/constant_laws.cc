#include "governor/constant_laws.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace spillway::governor {

FixedLaw::FixedLaw(GovernorSpec spec) : spec_(std::move(spec)) {}

Decision FixedLaw::tick(base::Instant, const TickInputs& in) {
  Decision d;
  d.total_rate = std::max(spec_.min, spec_.max ? std::min(spec_.fixed_rate, *spec_.max) : spec_.fixed_rate);
  d.backlog_budget = std::max(spec_.backlog_min, d.total_rate - in.live_rate);
  d.live_rate = in.live_rate;
  d.state = State::kTracking;
  d.cause = {CauseKind::kFixed, "", d.total_rate, spec_.fixed_rate, ""};
  return d;
}

Decision UnlimitedLaw::tick(base::Instant, const TickInputs& in) {
  Decision d;
  d.total_rate = std::numeric_limits<double>::infinity();
  d.backlog_budget = d.total_rate;
  d.live_rate = in.live_rate;
  d.state = State::kTracking;
  d.cause = {cause_, "", 0, 0, ""};
  return d;
}

}  // namespace spillway::governor
