// Prints the figures of all four reproductions, as README.md shows them.
#include <cstdio>

#include "cascade.h"
#include "deadline_propagation.h"
#include "metastable.h"
#include "retry_storm.h"

int main() {
  using namespace spillway::resilience::examples;
  std::printf("1. cascade\n\n%s\n2. deadline propagation\n\n%s\n3. retry storm\n\n%s\n4. metastable overload\n\n%s",
              cascade_table().c_str(), deadline_table().c_str(), retry_storm_table().c_str(),
              metastable_table().c_str());
  return 0;
}
