#include "sim/scenario.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spillway::sim {

namespace {
constexpr double kLongPauseS = 5;  // shorter ones cost nothing on balance: the queue makes up for them
}

double LiveSpec::offered(double t) const {
  double now = rate;
  for (const Step& step : steps) {
    if (t >= step.at) now = step.rate;
  }
  if (sine_period_s > 0) now += sine_amplitude * std::sin(2 * std::numbers::pi * t / sine_period_s);
  return std::max(0.0, now);
}

double Scenario::service_mean_s(double t) const {
  double mean = downstream.service_mean_s;
  for (const Change& c : changes) {
    if (t >= c.at && c.service_mean_s) mean = *c.service_mean_s;
  }
  return mean;
}

double Scenario::capacity(double t) const {
  for (const Span& pause : pauses) {
    if (pause.until - pause.from >= kLongPauseS && pause.contains(t)) return 0;
  }
  double servers = downstream.servers;
  double factor = 1;
  for (const Change& c : changes) {
    if (t < c.at) break;
    if (c.servers) servers = *c.servers;
    if (c.factor) factor = *c.factor;
  }
  double rate = downstream.kind == DownstreamKind::kFifo ? servers / service_mean_s(t) : downstream.peak_rate * factor;
  if (downstream.ideal_rate) rate = *downstream.ideal_rate * factor;
  if (downstream.bucket) rate = std::min(rate, downstream.bucket->rate);
  return std::max(0.0, rate - live.foreign_rate);
}

}  // namespace spillway::sim
