// `spillway simulate` and `spillway plan`. They need no configuration and open nothing but files they are told.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace spillway::app {

struct SimulateOptions {
  std::string scenario = {};                  // S1 … S19, a variant, `all`, or a file
  std::string law = "adaptive";               // --governor; also `oracle`
  std::vector<std::string> compare = {};      // --compare LAW,…
  std::vector<std::string> assignments = {};  // --set KEY=VALUE
  std::uint64_t seed = 1;                     // --seed
  int seeds = 1;                              // --seeds
  std::string report = {};                    // --report FILE.html
  bool json = false;                          // --json
  bool markdown = false;                      // --markdown
  bool progress = false;                      // progress on `err`: it is a terminal
};

// 0; 1 where the report could not be written; 2 where the scenario, a law or an assignment is wrong.
int run_simulate(const SimulateOptions& options, std::ostream& out, std::ostream& err);

}  // namespace spillway::app
