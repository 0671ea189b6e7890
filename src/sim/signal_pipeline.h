// From answers to samples: windows, delay, loss, and every way in which a signal can lie.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "governor/signal.h"
#include "sim/plant.h"
#include "sim/random.h"
#include "sim/scenario.h"

namespace spillway::sim {

base::Instant at_instant(double t);

class SignalPipeline {
 public:
  SignalPipeline(const Scenario& scenario, Random& random) : scenario_(scenario), random_(random) {}

  void record(const Answer& answer);
  // The window that ends at `t`.
  void close_window(double t, std::size_t waiting_in_topic);
  // Samples that have arrived at `t`, oldest first.
  std::vector<governor::SignalSample> due(double t);

 private:
  struct Travelling {
    double at;
    governor::SignalSample sample;
  };

  governor::SignalSample measure(double t, std::size_t waiting_in_topic);
  void spoil(double t, governor::SignalSample& sample);
  bool in(const std::vector<Span>& spans, double t) const;

  const Scenario& scenario_;
  Random& random_;
  std::vector<float> latencies_;
  double good_ = 0;
  std::optional<double> retry_after_s_;
  std::optional<governor::SignalSample> previous_;
  std::vector<Travelling> travelling_;
};

}  // namespace spillway::sim
