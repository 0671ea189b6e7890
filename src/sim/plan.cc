#include "sim/plan.h"

#include <algorithm>
#include <cmath>

namespace spillway::sim {

Plan make_plan(const PlanFigures& f) {
  Plan plan;
  plan.surplus = f.capacity - f.live;
  plan.dropped_surplus = f.capacity * (1 - kPlannedDrop) - f.live;
  if (plan.surplus > 0) {
    plan.clear_s = f.backlog / plan.surplus;
    const double left_after_drop = std::max(0.0, f.backlog - plan.dropped_surplus * kPlannedDropS);
    const bool clears_in_drop = plan.dropped_surplus > 0 && f.backlog <= plan.dropped_surplus * kPlannedDropS;
    plan.clear_short_drop_s =
        clears_in_drop ? f.backlog / plan.dropped_surplus : kPlannedDropS + left_after_drop / plan.surplus;
  }
  if (plan.dropped_surplus > 0) plan.clear_dropped_s = f.backlog / plan.dropped_surplus;
  return plan;
}

Scenario scenario_of(const PlanFigures& f, double latency_ceiling_s) {
  Scenario s;
  s.name = "plan";
  s.title = "The recovery that was asked for";
  s.backlog = f.backlog;
  s.live.rate = f.live;
  s.downstream.servers = std::max(1, static_cast<int>(std::ceil(f.capacity * s.downstream.service_mean_s)));
  s.downstream.service_mean_s = s.downstream.servers / f.capacity;
  s.governor.min = std::min(50.0, std::max(1.0, f.capacity / 10));
  s.governor.max = 1.5 * f.capacity;
  s.governor.signals.push_back({.name = "downstream", .latency_ceiling_s = latency_ceiling_s});
  return s;
}

}  // namespace spillway::sim
