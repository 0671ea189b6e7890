// All signals of a relay: what the governor asks for each tick, and what status shows.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "governor/signal.h"
#include "kafka/properties.h"
#include "runtime/loop.h"
#include "signals/relay_source.h"
#include "signals/signal_figures.h"

namespace spillway::signals {

class ObservedSource;

// Loop thread only. Invalid is missing: no failure here produces a sample. Another configuration needs another hub.
class SignalHub {
 public:
  // Asks at once; nothing has to answer. kMisconfigured names the signal (a URL of https, refused Kafka properties).
  // `properties`: as for the sink; only kafka_lag uses them. The loop must outlive the hub.
  static base::Result<std::unique_ptr<SignalHub>> open(runtime::Loop& loop, std::vector<config::SignalConfig> signals,
                                                       const kafka::Properties& properties);
  ~SignalHub();

  // In the order of the configuration; SignalSample::signal is the index.
  std::vector<governor::SignalSpec> specs() const;

  // What arrived since the last call, oldest first; where nobody asks for long, the newest 64 of each signal.
  std::vector<governor::SignalSample> take();

  std::vector<SignalFigures> figures(base::Instant now) const;

  // The body of POST /api/observations, all or nothing. How many answers it told of; kRejected says what is wrong.
  base::Result<std::size_t> observe(std::string_view json);

  // For the signals of kind relay, about once a second while the relay works.
  void publish(base::Instant now, const PublishFigures& figures);

 private:
  struct Signal;

  explicit SignalHub(std::vector<config::SignalConfig> signals);
  base::Status start(runtime::Loop& loop, const kafka::Properties& properties, std::size_t index);
  void arrived(std::size_t index, governor::SignalSample sample);
  ObservedSource* pushed(std::string_view name);
  std::string unknown_name(std::string_view name) const;
  SignalFigures figures_of(const Signal& signal, base::Instant now) const;

  std::vector<std::unique_ptr<Signal>> signals_;
  std::vector<governor::SignalSample> arrived_;
  base::Instant opened_at_;
};

}  // namespace spillway::signals
