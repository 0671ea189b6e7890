// Random numbers that are the same everywhere: the engine is fixed by the standard, the distributions of the standard
// library are not, so they are written out here.
#pragma once

#include <cstdint>
#include <random>

namespace spillway::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }  // [0, 1)
  double exponential(double mean);
  double lognormal(double mean, double sigma);  // sigma of the logarithm
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(uniform() * static_cast<double>(n)); }

 private:
  double normal();

  std::mt19937_64 engine_;
};

}  // namespace spillway::sim
