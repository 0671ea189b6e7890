// Counts a run second by second.
#pragma once

#include <vector>

#include "sim/plant.h"
#include "sim/run_result.h"
#include "sim/scenario.h"

namespace spillway::sim {

class RunMetrics {
 public:
  explicit RunMetrics(const Scenario& scenario) : scenario_(scenario) {}

  void on_answer(const Answer& answer);
  void on_sent(double events) { second_.sent += static_cast<float>(events); }
  void on_hold(double seconds);
  // Completes the second that ends now.
  void close_second(const SecondOfRun& state);

  // `end`: time of the last delivery, or of giving up.
  void finish(double end, RunResult& result);

 private:
  void count_turns(RunResult& result) const;
  void find_reconvergence(double end, RunResult& result) const;

  const Scenario& scenario_;
  SecondOfRun second_;
  std::vector<float> all_;
  std::vector<float> live_;
  std::vector<float> live_total_;
  std::vector<SecondOfRun> seconds_;
  double longest_hold_s_ = 0;
};

}  // namespace spillway::sim
