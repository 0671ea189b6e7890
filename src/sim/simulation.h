// One run of one scenario under one law, in virtual time. The same seed gives the same run.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sim/run_result.h"
#include "sim/scenario.h"

namespace spillway::sim {

struct RunOptions {
  std::string law = "adaptive";  // a law of the governor, or "oracle"
  std::uint64_t seed = 1;
  bool keep_seconds = false;  // for charts
};

// Misconfigured where the law is not known, the governor's bounds are wrong, or no law could ever clear the backlog.
base::Result<RunResult> simulate(const Scenario& scenario, const RunOptions& options);

// p99 of live traffic with the same downstream and no backlog, over the first `seconds`.
double live_p99_alone(const Scenario& scenario, std::uint64_t seed, double seconds);

}  // namespace spillway::sim
