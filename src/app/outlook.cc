#include "app/outlook.h"

#include <array>
#include <chrono>

#include "app/holder_name.h"

#ifndef SPILLWAY_VERSION
#error "SPILLWAY_VERSION comes from the build"
#endif

namespace spillway::app {
namespace {

using telemetry::PublishFailure;

double unix_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

http::ServerOptions server_options(const config::Config& config) {
  return {.host = config.http.listen->host,
          .port = config.http.listen->port,
          .token = config.http.token,
          .insecure = config.http.insecure};
}

}  // namespace

PublishFailure failure_reason(std::string_view name) {
  if (name.find("FATAL") != std::string_view::npos || name.find("FENCED") != std::string_view::npos) {
    return PublishFailure::kFatal;
  }
  if (name == "MSG_SIZE_TOO_LARGE" || name == "RECORD_LIST_TOO_LARGE") return PublishFailure::kTooLarge;
  if (name.find("AUTH") != std::string_view::npos || name == "_SSL") return PublishFailure::kAuth;
  if (name.find("TIMED_OUT") != std::string_view::npos) return PublishFailure::kTimeout;
  constexpr std::array<std::string_view, 6> kRefusals = {"INVALID_RECORD",        "INVALID_MSG",    "TOPIC_EXCEPTION",
                                                         "UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "POLICY_VIOLATION"};
  for (const std::string_view refusal : kRefusals) {
    if (name == refusal) return PublishFailure::kRejected;
  }
  return PublishFailure::kRetriable;
}

Outlook::Outlook(const config::Config& config, runtime::Loop& loop, ports::OutboxStore& store,
                 const runtime::RelayDriver& driver, const kafka::KafkaSink& sink, const telemetry::Log& log)
    : driver_(driver),
      sink_(sink),
      log_(log),
      desk_(loop, store),
      observer_(loop, desk_, driver, observer_options(config, store)),
      metrics_({.version = SPILLWAY_VERSION, .compiler = __VERSION__}) {
  metrics_.config_loaded(true, unix_now());
}

base::Result<std::unique_ptr<Outlook>> Outlook::open(const config::Config& config, runtime::Loop& loop,
                                                     ports::OutboxStore& store, const runtime::RelayDriver& driver,
                                                     const kafka::KafkaSink& sink, const telemetry::Log& log) {
  std::unique_ptr<Outlook> outlook(new Outlook(config, loop, store, driver, sink, log));
  if (config.http.listen) {
    auto server = http::Server::listen(loop.context(), server_options(config));
    if (!server) return std::unexpected(server.error());
    outlook->server_ = std::move(*server);
    Outlook* self = outlook.get();
    console::add_endpoints(*self->server_, self->desk_,
                           {.status = [self] { return self->observer_.now(); },
                            .explanation = [self] { return self->observer_.explanation(); },
                            .metrics = [self](telemetry::Exposition as) { return self->metrics_text(as); },
                            .readiness = [self] { return self->readiness(); },
                            .turn_age_s = [self] { return self->observer_.turn_age_s(); },
                            .show_payloads = config.http.show_payloads,
                            .observe = [self](std::string_view json) -> base::Result<std::size_t> {
                              if (self->observe_) return self->observe_(json);
                              return base::fail(base::ErrorClass::kUnavailable, "it is only just starting");
                            }});
  }
  outlook->observer_.start();
  return outlook;
}

console::ObserverOptions Outlook::observer_options(const config::Config& config, ports::OutboxStore& store) {
  return {
      .subject = {.outbox = config.outbox.name, .store = store.describe(), .signals_given = !config.signals.empty()},
      .process = process_name(),
      .sink_error = [this] { return broker_trouble(); }};
}

// With nothing to send, connections may be closed and nothing is wrong.
std::string Outlook::broker_trouble() const {
  if (driver_.relay().unfinished() == 0) return {};
  const kafka::KafkaFigures figures = sink_.figures();
  if (figures.brokers.brokers_up > 0 || figures.last_error.empty()) return {};
  return "no broker answers: " + figures.last_error;
}

void Outlook::config_loaded(bool successful) { metrics_.config_loaded(successful, unix_now()); }

console::Readiness Outlook::readiness() {
  console::Readiness readiness;
  if (!driver_.store_reached()) readiness.missing.emplace_back("the store was never reached");
  if (observer_.turn_age_s() >= status::kFrozenAfterS) readiness.missing.emplace_back("the relay's loop does not turn");
  if (stopping_) readiness.missing.emplace_back("it is stopping");
  const status::Status status = observer_.now();
  readiness.notes.push_back(status.cause);
  for (const status::Alert& alert : status.alerts) readiness.notes.push_back(alert.name + ": " + alert.summary);
  return readiness;
}

std::string Outlook::metrics_text(telemetry::Exposition exposition) {
  metrics_.status(observer_.now(), observer_.figures_unix_s());
  const relay::Relay& relay = driver_.relay();
  metrics_.relay(relay.counters(), telemetry::Buckets::of(relay.outbound().publish_seconds()),
                 telemetry::Buckets::of(relay.tallies().delay_seconds()));
  if (relay.lanes_apart()) {
    for (int flow = 0; flow < relay::kFlows; ++flow) {
      const relay::LaneTally& tally = relay.tallies().of(static_cast<relay::Flow>(flow));
      metrics_.lane(relay::kFlowNames[static_cast<std::size_t>(flow)], tally.published, tally.bytes,
                    telemetry::Buckets::of(tally.delay_seconds));
    }
  }
  for (const auto& [rule, count] : relay.triaged()) metrics_.triaged(rule.first, to_string(rule.second), count);
  metrics_.decisions(observer_.steering().decisions().counts());
  std::array<std::uint64_t, telemetry::kPublishFailures> failures{};
  for (const auto& [name, count] : sink_.figures().errors)
    failures[static_cast<std::size_t>(failure_reason(name))] += count;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    metrics_.publish_failures(static_cast<PublishFailure>(i), failures[i]);
  }
  metrics_.log_dropped(log_.dropped());
  if (server_) metrics_.http_clients(server_->clients());
  return metrics_.render(exposition, telemetry::read_process_figures());
}

}  // namespace spillway::app
