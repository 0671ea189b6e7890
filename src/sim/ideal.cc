#include "sim/ideal.h"

namespace spillway::sim {

std::optional<double> ideal_seconds(const Scenario& scenario) {
  constexpr int kDay = 24 * 3600;
  double left = scenario.backlog;
  for (int t = 0; t < kDay; ++t) {
    const double surplus = scenario.capacity(t) - scenario.live.offered(t);
    if (surplus > 0 && left <= surplus) return t + left / surplus;
    left -= surplus;
  }
  return std::nullopt;
}

}  // namespace spillway::sim
