#include "status/governor_view.h"

#include <fmt/format.h>

#include <cmath>

#include "status/words.h"

namespace spillway::status {

std::optional<double> if_finite(double rate) { return std::isfinite(rate) ? std::optional(rate) : std::nullopt; }

GovernorView view_of(governor::LawKind law, const governor::Decision& decision) {
  GovernorView view{.law = governor::to_string(law), .state = governor::to_string(decision.state)};
  if (decision.capacity > 0) view.capacity = decision.capacity;
  view.budget = if_finite(decision.backlog_budget);
  view.total = if_finite(decision.total_rate);
  view.live_demand = decision.live_rate;
  if (decision.foreign_rate > 0) view.others = decision.foreign_rate;
  view.live_cap = decision.live_cap;
  view.cause = governor::to_string(decision.cause.kind);
  view.reason = governor::text(decision);
  return view;
}

bool steered(const GovernorView& governor) {
  using governor::CauseKind;
  return !governor.cause.empty() && governor.cause != to_string(CauseKind::kNoSignals) &&
         governor.cause != to_string(CauseKind::kUnlimited);
}

std::string override_words(const ports::Override& limit, const std::optional<double>& held_at) {
  const auto& most = limit.max_total ? limit.max_total : held_at;
  const std::string what =
      most ? fmt::format("at most {}", rate_words(*most)) : "nothing above what was sent when it was set";
  const double left = std::chrono::duration<double>(limit.remaining).count();
  return fmt::format("{}{}, another {}{}: {}", limit.max_total ? "" : "hold, ", what, span_words(left),
                     limit.who.empty() ? "" : ", by " + limit.who, limit.reason);
}

}  // namespace spillway::status
