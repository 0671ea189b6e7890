// Reproduction 2, deadline propagation: a service that does not know when its callers left works for nobody.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::resilience::examples {

struct DeadlineFigures {
  double wasted = 0;   // share of the work done for callers who had left
  double goodput = 0;  // answers a second that somebody still waited for
};

// `propagated`: requests carry the deadline header and the service skips what has expired.
DeadlineFigures run_deadline_propagation(bool propagated, std::uint64_t seed);
std::string deadline_table();

}  // namespace spillway::resilience::examples
