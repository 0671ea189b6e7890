// The arithmetic of a recovery: backlog ÷ (capacity - live), and what a loss of capacity costs.
#pragma once

#include <optional>

#include "sim/scenario.h"

namespace spillway::sim {

struct PlanFigures {
  double backlog = 0;   // events
  double capacity = 0;  // events/s downstream can deliver in total
  double live = 0;      // events/s
};

constexpr double kPlannedDrop = 0.3;  // of the capacity
constexpr double kPlannedDropS = 300;

struct Plan {
  double surplus = 0;                        // events/s left for the backlog; <= 0: it grows
  std::optional<double> clear_s;             // nothing: never at this rate
  double dropped_surplus = 0;                // the same with 30 % less capacity
  std::optional<double> clear_dropped_s;     // with 30 % less throughout
  std::optional<double> clear_short_drop_s;  // with 30 % less for the first five minutes
};

Plan make_plan(const PlanFigures& figures);

// The same recovery for the simulator: a queue with as many servers as the capacity needs at 50 ms of service.
Scenario scenario_of(const PlanFigures& figures, double latency_ceiling_s);

}  // namespace spillway::sim
