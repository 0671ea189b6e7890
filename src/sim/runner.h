// Many runs at once: scenarios x laws x seeds over the machine's cores, each compared with the oracle and with live
// alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/run_result.h"
#include "sim/scenario.h"

namespace spillway::sim {

struct Batch {
  std::vector<Scenario> scenarios;
  std::vector<std::string> laws = {"adaptive"};
  std::uint64_t seed = 1;
  int seeds = 1;
  bool keep_seconds = false;  // of the first seed of each scenario and law
};

// Results in the order scenario, law, seed, whatever finished first. `progress` is called with done and all, from one
// thread at a time. The first error ends the batch.
base::Result<std::vector<RunResult>> run_batch(const Batch& batch,
                                               const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace spillway::sim
