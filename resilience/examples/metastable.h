// Reproduction 4, metastable overload: a short spike after which the service never comes back, until it sheds load.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::resilience::examples {

// Requests answered in time, a second. The service can do 100 a second; 80 come, and 240 in the spike.
struct MetastableFigures {
  double before = 0;
  double spike = 0;
  double after = 0;  // from half a minute after the spike on
};

MetastableFigures run_metastable(bool shedding, std::uint64_t seed);
std::string metastable_table();

}  // namespace spillway::resilience::examples
