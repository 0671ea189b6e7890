// Reproduction 1, cascade: one slow dependency takes down what does not need it.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::resilience::examples {

struct CascadeFigures {
  double healthy_before = 0;  // share of requests to the healthy page answered within a second
  double healthy_during = 0;  // the same while the other page's dependency is slow
  double slow_after = 0;      // of requests to the other page, once its dependency is well again
};

// `guarded`: the slow dependency is behind a breaker and a bulkhead.
CascadeFigures run_cascade(bool guarded, std::uint64_t seed);
std::string cascade_table();

}  // namespace spillway::resilience::examples
