// What a running daemon shows of itself: status, metrics, health, and what people may change over HTTP.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/config.h"
#include "console/endpoints.h"
#include "console/observer.h"
#include "kafka/kafka_sink.h"
#include "telemetry/log.h"

namespace spillway::app {

// Loop thread only; ends before the loop, the driver, the sink and the store.
class Outlook {
 public:
  // kMisconfigured where `http.listen` cannot be listened on.
  static base::Result<std::unique_ptr<Outlook>> open(const config::Config& config, runtime::Loop& loop,
                                                     ports::OutboxStore& store, const runtime::RelayDriver& driver,
                                                     const kafka::KafkaSink& sink, const telemetry::Log& log);

  // From now on it is not ready any more.
  void stopping() { stopping_ = true; }
  // Whether the configuration that was read again is now in force.
  void config_loaded(bool successful);
  // To be told what governor, signals and lanes say.
  status::Steering& steering() { return observer_.steering(); }
  // Who takes pushed observations.
  void observe_with(std::function<base::Result<std::size_t>(std::string_view)> observe) {
    observe_ = std::move(observe);
  }
  // host:port; empty where nothing is listened on.
  std::string address() const { return server_ ? server_->address() : std::string(); }

 private:
  Outlook(const config::Config& config, runtime::Loop& loop, ports::OutboxStore& store,
          const runtime::RelayDriver& driver, const kafka::KafkaSink& sink, const telemetry::Log& log);

  console::ObserverOptions observer_options(const config::Config& config, ports::OutboxStore& store);
  std::string broker_trouble() const;
  console::Readiness readiness();
  std::string metrics_text(telemetry::Exposition exposition);

  const runtime::RelayDriver& driver_;
  const kafka::KafkaSink& sink_;
  const telemetry::Log& log_;
  console::Desk desk_;
  console::Observer observer_;
  telemetry::Metrics metrics_;
  std::function<base::Result<std::size_t>(std::string_view)> observe_;
  std::unique_ptr<http::Server> server_;
  bool stopping_ = false;
};

// The bounded label of a librdkafka error name ("MSG_SIZE_TOO_LARGE").
telemetry::PublishFailure failure_reason(std::string_view error_name);

}  // namespace spillway::app
