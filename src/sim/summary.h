// Several seeds of one scenario under one law, as one line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/run_result.h"
#include "sim/scenario.h"

namespace spillway::sim {

struct MedianAndWorst {
  double median = 0;
  double worst = 0;
};

struct Summary {
  std::string scenario;
  std::string law;
  int seeds = 0;
  int recovered = 0;
  std::optional<MedianAndWorst> ratio;  // of the seeds that recovered
  MedianAndWorst seconds_over;
  MedianAndWorst oracle_seconds_over;
  MedianAndWorst longest_hold_s;
  MedianAndWorst worst_p99_s;
  MedianAndWorst attempts_per_event;
  double run_s = 0;  // median time to clear
};

// In the order in which scenario and law first appear.
std::vector<Summary> summarise(std::span<const RunResult> results);

// What the summary misses of the scenario's target, one sentence each; empty where it is met.
std::vector<std::string> missed(const Summary& summary, const Target& target);

}  // namespace spillway::sim
