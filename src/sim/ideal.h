// The least time in which a backlog can go out beside live traffic.
#pragma once

#include <optional>

#include "sim/scenario.h"

namespace spillway::sim {

// The first t at which the integral of capacity - live, negative parts included, reaches the backlog; nothing where
// that does not happen within a day.
std::optional<double> ideal_seconds(const Scenario& scenario);

}  // namespace spillway::sim
