#include "governor/live_rate.h"

#include <cmath>

namespace spillway::governor {

namespace {
constexpr double kTimeConstantS = 2;
}

double LiveRate::add(double arrivals, double seconds) {
  if (seconds <= 0) return rate_;
  rate_ += (1 - std::exp(-seconds / kTimeConstantS)) * (arrivals / seconds - rate_);
  return rate_;
}

}  // namespace spillway::governor
