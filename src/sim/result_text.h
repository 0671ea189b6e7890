// Results as JSON (names as in the contract), as a table for people, and as a table in Markdown.
#pragma once

#include <span>
#include <string>

#include "sim/run_result.h"
#include "sim/summary.h"

namespace spillway::sim {

// {"version": 1, "runs": [{"scenario", "governor", "seed", …}]}; null where a run did not clear.
std::string to_json(std::span<const RunResult> results);

std::string to_table(std::span<const Summary> summaries);

// One row a scenario, one pair of columns a law: clear / ideal and seconds over the ceiling, median (worst).
std::string to_markdown(std::span<const Summary> summaries);

}  // namespace spillway::sim
