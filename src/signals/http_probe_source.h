// A URL that is asked to see how long the answer takes.
#pragma once

#include <memory>

#include "config/config.h"
#include "http/getter.h"
#include "signals/latency_sketch.h"
#include "signals/signal_source.h"
#include "signals/ticker.h"

namespace spillway::signals {

// The probes of one second make one window. 2xx is good. An answer in time with another status is one that failed;
// no answer in time is no sample, so that the signal goes stale. Completions are probes, not events.
class HttpProbeSource final : public SignalSource {
 public:
  // kMisconfigured where the URL cannot be asked.
  static base::Result<std::unique_ptr<HttpProbeSource>> open(runtime::Loop& loop, const config::SignalConfig& config,
                                                             Emit emit);

  std::string trouble(base::Instant) const override { return trouble_; }

 private:
  HttpProbeSource(runtime::Loop& loop, const config::SignalConfig& config, Emit emit,
                  std::unique_ptr<http::Getter> getter);

  void probe(base::Instant now);
  void answered(base::Result<http::GetterAnswer> answer);
  void close_window_if_due(base::Instant now);

  base::Duration every_;
  Emit emit_;
  std::unique_ptr<http::Getter> getter_;
  bool asking_ = false;
  base::Instant asked_at_;
  base::Instant window_from_;
  LatencySketch latencies_;
  double good_ = 0;
  std::optional<double> retry_after_s_;
  std::string trouble_ = "was not asked yet";
  Ticker ticker_;
};

}  // namespace spillway::signals
