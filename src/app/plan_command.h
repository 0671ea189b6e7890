// `spillway plan`: how long a recovery takes, what a loss of capacity costs, and what each governor makes of it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace spillway::app {

struct PlanOptions {
  double backlog = 0;   // events
  double capacity = 0;  // events/s in total
  double live = 0;      // events/s
  double latency_ceiling_s = 0.4;
  std::vector<std::string> laws = {"adaptive", "aimd", "gradient"};  // simulated; none: arithmetic alone
  std::uint64_t seed = 1;
  bool json = false;
};

// 0; 2 where the figures are wrong; 3 where the backlog never clears at these figures.
int run_plan(const PlanOptions& options, std::ostream& out, std::ostream& err);

}  // namespace spillway::app
