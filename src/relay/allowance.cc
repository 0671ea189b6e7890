#include "relay/allowance.h"

#include <algorithm>
#include <cmath>

namespace spillway::relay {
namespace {

// Backlog that is let out slowly is read in small pages, a second's worth: live reads wait for each.
constexpr double kBacklogPageS = 1;
constexpr double kSmallestPage = 100;

}  // namespace

void Allowance::apply(const governor::Decision& decision) {
  pacer_.apply(decision);
  limited_ = std::isfinite(decision.total_rate) || decision.live_cap;
  backlog_rate_ = decision.backlog_budget;
  window_ = decision.in_flight_window;
  live_is_held_ = decision.live_cap.has_value();
}

void Allowance::refill(base::Instant now) {
  if (limited_) pacer_.refill(now);
}

std::size_t Allowance::backlog_page(std::size_t most) const {
  if (!limited_) return most;
  if (backlog_rate_ == 0) return 0;
  return static_cast<std::size_t>(
      std::min(static_cast<double>(most), std::max(kSmallestPage, backlog_rate_ * kBacklogPageS)));
}

// A row of backlog that was let out and came back goes on live's share where backlog has none: it holds up live rows.
bool Allowance::on_lives_share(Flow flow, bool again) const {
  return flow == Flow::kLive || (again && backlog_rate_ == 0);
}

bool Allowance::may_go(Flow flow, bool again, std::size_t in_flight) const {
  if (!limited_) return true;
  if (on_lives_share(flow, again)) return pacer_.live_ready();
  const bool in_window = window_ == 0 || static_cast<double>(in_flight) < window_;
  return in_window && pacer_.backlog_ready();
}

void Allowance::went(Flow flow, bool again) {
  if (!limited_) return;
  on_lives_share(flow, again) ? pacer_.take_live(1) : pacer_.take_backlog(1);
}

}  // namespace spillway::relay
