// What the simulator says of a scenario.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "recovery/recorder.h"
#include "sim/simulation.h"

namespace spillway::testing {

struct Prediction {
  double clear_s = 0;  // medians over the seeds
  double oracle_seconds_over = 0;
};

inline Prediction predict(const sim::Scenario& scenario, int seeds = 10) {
  std::vector<double> clear;
  std::vector<double> over;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto run = sim::simulate(scenario, {.law = "adaptive", .seed = static_cast<std::uint64_t>(seed)});
    const auto oracle = sim::simulate(scenario, {.law = "oracle", .seed = static_cast<std::uint64_t>(seed)});
    EXPECT_TRUE(run && run->clear_s && oracle) << scenario.name << " is never cleared in the simulator";
    if (!run || !run->clear_s || !oracle) return {};
    clear.push_back(*run->clear_s);
    over.push_back(oracle->seconds_over);
  }
  return {quantile(clear, 0.5), quantile(over, 0.5)};
}

}  // namespace spillway::testing
