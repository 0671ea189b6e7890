// Calls that somebody else measured and told us about: windows of a second.
#pragma once

#include "signals/latency_sketch.h"
#include "signals/observations.h"
#include "signals/signal_source.h"
#include "signals/ticker.h"

namespace spillway::signals {

// A second without observations is no sample: who is silent may be idle or dead.
class ObservedSource final : public SignalSource {
 public:
  // Latencies are reported only where they are judged.
  ObservedSource(runtime::Loop& loop, bool judges_latency, Emit emit);

  void observe(const Observation& observation);

  std::string trouble(base::Instant now) const override;

 private:
  void close_window(base::Instant now);

  bool judges_latency_;
  Emit emit_;
  LatencySketch latencies_;
  double good_ = 0;
  base::Instant window_from_;
  bool silent_ = true;
  base::Instant silent_since_;
  Ticker ticker_;
};

}  // namespace spillway::signals
