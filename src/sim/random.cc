#include "sim/random.h"

#include <cmath>
#include <numbers>

namespace spillway::sim {

double Random::exponential(double mean) { return -mean * std::log(1 - uniform()); }

// Box and Muller (1958).
double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Random::lognormal(double mean, double sigma) {
  return std::exp(std::log(mean) - sigma * sigma / 2 + sigma * normal());
}

}  // namespace spillway::sim
