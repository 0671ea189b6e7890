// A histogram and a counter of errors, scraped from the metrics of every target.
#pragma once

#include <memory>
#include <vector>

#include "config/config.h"
#include "http/getter.h"
#include "signals/signal_source.h"
#include "signals/target_windows.h"
#include "signals/ticker.h"

namespace spillway::signals {

class PrometheusSource final : public SignalSource {
 public:
  // kMisconfigured where a URL cannot be asked.
  static base::Result<std::unique_ptr<PrometheusSource>> open(runtime::Loop& loop, const config::SignalConfig& config,
                                                              Emit emit);

  std::string trouble(base::Instant) const override { return windows_.trouble(); }

 private:
  PrometheusSource(runtime::Loop& loop, const config::SignalConfig& config, Emit emit,
                   std::vector<std::unique_ptr<http::Getter>> targets);

  void round(base::Instant now);
  void answered(std::size_t target, base::Result<http::GetterAnswer> answer);

  ScrapeNames names_;
  TargetWindows windows_;
  Emit emit_;
  std::vector<std::unique_ptr<http::Getter>> targets_;
  std::size_t awaited_ = 0;
  Ticker ticker_;
};

}  // namespace spillway::signals
