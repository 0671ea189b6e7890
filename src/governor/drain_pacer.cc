#include "governor/drain_pacer.h"

#include <cmath>

namespace spillway::governor {

void DrainPacer::apply(const Decision& d) {
  live_capped_ = d.live_cap.has_value();
  if (live_capped_) live_.set_rate(*d.live_cap);
  // While blind the backlog must not take what live leaves; beside a cap, a floor or an override the budget is its own.
  const bool budget_is_the_rest = std::abs(d.total_rate - d.live_rate - d.backlog_budget) < 1e-6 * d.total_rate;
  shares_total_ = budget_is_the_rest && !live_capped_ && d.state != State::kBlind && std::isfinite(d.total_rate);
  backlog_.set_rate(shares_total_ ? d.total_rate : d.backlog_budget);
}

void DrainPacer::refill(base::Instant now) {
  live_.refill(now);
  backlog_.refill(now);
}

long long DrainPacer::take_live(long long wanted) {
  const long long granted = live_capped_ ? live_.take(wanted) : wanted;
  if (shares_total_) backlog_.charge(static_cast<double>(granted));
  return granted;
}

}  // namespace spillway::governor
