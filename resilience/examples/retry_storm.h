// Reproduction 3, retry storm: every caller's four attempts are the dependency's fourfold load.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::resilience::examples {

struct RetryStormFigures {
  double calm = 0;    // attempts per request before the fault
  double outage = 0;  // attempts per request during the fault
};

RetryStormFigures run_retry_storm(bool with_budget, std::uint64_t seed);
std::string retry_storm_table();

}  // namespace spillway::resilience::examples
