#include "app/daemon.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <thread>

#include "app/adopted_table.h"
#include "app/control_loop.h"
#include "app/exit_status.h"
#include "app/holder_name.h"
#include "app/load_config.h"
#include "app/open_store.h"
#include "app/outlook.h"
#include "app/service_manager.h"
#include "app/triage_rules.h"
#include "config/load.h"
#include "config/reload.h"
#include "kafka/kafka_sink.h"
#include "relay/relay.h"
#include "runtime/loop.h"
#include "runtime/relay_driver.h"
#include "runtime/worker.h"
#include "spillway/resilience/backoff.h"
#include "status/cause.h"
#include "telemetry/log.h"

namespace spillway::app {
namespace {

relay::RelayOptions relay_options(const config::Config& config, bool marks_rows) {
  relay::RelayOptions options;
  options.live_age = config.lanes.live_age;
  options.promote = config.lanes.key_with_backlog == config::KeyWithBacklog::kPromote;
  options.outbound.bytes_in_flight = config.limits.bytes_in_flight.count;
  options.outbound.events_in_flight = static_cast<std::size_t>(config.limits.events_in_flight);
  options.outbound.unknown_topic_after = config.route.unknown_topic_after;
  options.ahead = static_cast<std::size_t>(config.limits.ahead);
  options.stop_key = config.route.on_rejected == config::OnRejected::kStopKey;
  options.marks_rows = marks_rows;
  options.poll_busy = config.outbox.poll.busy;
  options.poll_idle = config.outbox.poll.idle;
  return options;
}

telemetry::LogOptions log_options(const config::Config& config) {
  return {.level = static_cast<telemetry::LogLevel>(config.log.level),
          .format = static_cast<telemetry::LogFormat>(config.log.format)};
}
static_assert(static_cast<int>(config::LogLevel::kError) == static_cast<int>(telemetry::LogLevel::kError));
static_assert(static_cast<int>(config::LogFormat::kJson) == static_cast<int>(telemetry::LogFormat::kJson));

void log_kafka(telemetry::Log& log, const kafka::LogLine& line) {
  // As syslog: up to 3 an error, 4 a warning, 5 and 6 information.
  const telemetry::LogLevel level = line.level <= 3   ? telemetry::LogLevel::kError
                                    : line.level == 4 ? telemetry::LogLevel::kWarn
                                    : line.level <= 6 ? telemetry::LogLevel::kInfo
                                                      : telemetry::LogLevel::kDebug;
  log.write(level, "librdkafka", {{"facility", line.facility}, {"text", line.text}});
}

void log_broker(telemetry::Log& log, const kafka::BrokerChange& change) {
  switch (change.now) {
    case kafka::BrokerState::kUp: log.info("broker is back", {{"broker", change.broker}}); break;
    case kafka::BrokerState::kAway:
      log.warn("broker is away", {{"broker", change.broker}, {"reason", change.reason}});
      break;
    case kafka::BrokerState::kRefuses:
      log.error("broker refuses the connection", {{"broker", change.broker}, {"reason", change.reason}});
      break;
  }
}

kafka::KafkaSinkSettings sink_settings(const config::Config& config, telemetry::Log& log) {
  kafka::KafkaSinkSettings settings;
  settings.log = [&log](const kafka::LogLine& line) { log_kafka(log, line); };
  settings.broker_change = [&log](const kafka::BrokerChange& change) { log_broker(log, change); };
  for (const config::KafkaProperty& property : config.kafka.properties) {
    settings.properties.emplace_back(property.name, property.value);
  }
  settings.records = static_cast<std::size_t>(config.limits.events_in_flight);
  settings.bytes = config.limits.bytes_in_flight.count;
  return settings;
}

class Daemon {
 public:
  Daemon(const config::Config& config, std::string config_path, telemetry::Log& log,
         std::unique_ptr<ports::OutboxStore> store, std::unique_ptr<kafka::KafkaSink> sink, relay::Route route,
         std::shared_ptr<triage::RuleJudge> judge)
      : config_(config),
        config_path_(std::move(config_path)),
        log_(log),
        store_(std::move(store)),
        sink_(std::move(sink)),
        judge_(std::move(judge)),
        key_leads_to_rows_(route.key_has_aggregate_id()) {
    runtime::DriverOptions options;
    options.judge = judge_;
    options.relay = relay_options(config, store_->marks_rows());
    options.holder_name = process_name();
    if (config.outbox.cleanup.keep) options.keep = std::chrono::ceil<std::chrono::seconds>(*config.outbox.cleanup.keep);
    options.on_event = [this](const std::string& line) { say(line); };
    driver_ = std::make_unique<runtime::RelayDriver>(loop_, *store_, *sink_, sink_->event_fd(), std::move(route),
                                                     std::move(options));
  }

  // After kExitFailed threads may still wait for a database that does not answer; the process is to be ended, not this.
  int run() {
    loop_.on_signals({SIGTERM, SIGINT, SIGHUP}, [this](int number) { number == SIGHUP ? reload() : stop(); });
    auto outlook = Outlook::open(config_, loop_, *store_, *driver_, *sink_, log_);
    if (!outlook) {
      log_.error(outlook.error().message);
      return kExitWrongUsage;
    }
    outlook_ = std::move(*outlook);
    auto control =
        ControlLoop::open(config_, loop_, *driver_, outlook_->steering(),
                          [this](bool loud, const std::string& line) { loud ? log_.warn(line) : log_.info(line); });
    if (!control) {
      log_.error(control.error().message);
      return kExitWrongUsage;
    }
    control_ = std::move(*control);
    outlook_->observe_with([this](std::string_view json) { return control_->observe(json); });
    say("carries " + store_->describe() + " to Kafka");
    if (config_.signals.empty()) log_.warn(status::kNoSignals, {{"law", "unlimited"}});
    if (!outlook_->address().empty()) log_.info("serves HTTP", {{"address", outlook_->address()}});
    if (service_.watchdog()) feed_watchdog();
    inspect();
    loop_.run();
    if (exit_status_ == kExitFailed) return exit_status_;
    hinting_ = false;
    if (hinter_.joinable()) hinter_.join();
    return exit_status_;
  }

 private:
  void say(const std::string& line) const { log_.info(line); }

  // A table that a relay cannot work on ends the start; a database that is away is waited for.
  void inspect() {
    starting_.submit([this] {
      auto found = store_->inspect();
      if (found && judge_) {
        if (auto fine = judge_->check(); !fine) found = std::unexpected(fine.error());
      }
      loop_.post([this, found = std::move(found)] {
        if (stopping_since_) return;
        if (found) return begin(*found);
        if (found.error().error_class == base::ErrorClass::kMisconfigured) {
          log_.error(found.error().message);
          exit_status_ = kExitWrongUsage;
          return loop_.stop();
        }
        // Once for each reason: the wait may last for hours.
        if (std::exchange(waits_because_, found.error().message) != found.error().message) {
          log_.warn("waits for the database: " + found.error().message);
        }
        inspecting_.after(backoff_.next([this] { return std::uniform_real_distribution<double>(0, 1)(engine_); }));
      });
    });
  }

  void begin(const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) log_.warn(warning);
    if (!waits_because_.empty()) say("the database answers");
    begun_ = true;
    driver_->use_lanes(lanes());
    driver_->start();
    service_.ready();
    if (auto hint = open_hint(config_)) listen(std::move(hint));
  }

  // Whether a live event can be kept from overtaking the backlog of its key.
  bool lanes() {
    const bool possible = store_->finds_keys() && key_leads_to_rows_;
    if (possible) return true;
    if (!key_leads_to_rows_) {
      log_.warn(
          "live events and backlog are not told apart: route.key has no {aggregateid}, which leads to the rows of "
          "a key");
    }
    if (judge_) log_.warn("triage has no effect: without lanes there is no backlog to judge");
    return false;
  }

  void listen(std::unique_ptr<ports::ArrivalHint> hint) {
    hinting_ = true;
    hinter_ = std::thread([this, hint = std::move(hint)] {
      while (hinting_) {
        const auto came = hint->wait(std::chrono::milliseconds(500));
        if (came && *came) loop_.post([this] { driver_->hint(); });
        if (!came && came.error().error_class == base::ErrorClass::kMisconfigured) {
          loop_.post([this, why = came.error().message] { say("polls instead of listening: " + why); });
          return;
        }
      }
    });
  }

  // What can change in place does, all or nothing.
  void reload() {
    service_.reloading();
    const config::LoadResult wanted = load_config(config_path_, config::process_sources());
    if (!wanted) {
      for (const config::Fault& fault : wanted.error()) log_.error(to_string(fault));
      return reloaded(false, "the configuration has faults: nothing changed");
    }
    const config::ReloadPlan plan = config::diff_for_reload(config_, wanted->config);
    if (!plan.allowed()) {
      return reloaded(false, fmt::format("{} cannot change without a restart: nothing changed",
                                         fmt::join(plan.needs_restart, ", ")));
    }
    auto judge = open_judge(wanted->config, *store_);
    const base::Status steering = judge ? control_->reload(wanted->config) : std::unexpected(judge.error());
    if (!steering) return reloaded(false, steering.error().message + ": nothing changed");
    driver_->judge_by(std::move(*judge));
    config_ = wanted->config;
    log_.set_level(static_cast<telemetry::LogLevel>(config_.log.level));
    reloaded(true, fmt::format("read the configuration again: {} changed", plan.changes.size()));
  }
  void reloaded(bool successful, const std::string& line) {
    outlook_->config_loaded(successful);
    successful ? log_.info(line) : log_.error(line);
    service_.ready();
  }

  void feed_watchdog() {
    service_.alive();
    feeding_.after(*service_.watchdog());
  }

  // A second signal ends at once: what is out is sent again at the next start. One person's Ctrl-C may come twice, from
  // the terminal and from a program between (`timeout`, a shell script); what comes that soon is the same signal.
  void stop() {
    constexpr auto same_signal = std::chrono::milliseconds(200);
    const auto now = std::chrono::steady_clock::now();
    if (stopping_since_) {
      if (now - *stopping_since_ < same_signal) return;
      exit_status_ = kExitFailed;
      return loop_.stop();
    }
    stopping_since_ = now;
    service_.stopping();
    outlook_->stopping();
    if (!begun_) {
      say("stops before it began: the database did not answer");
      return loop_.stop();
    }
    say(fmt::format("stops: {} events are in flight", driver_->relay().outbound().in_flight()));
    driver_->stop(config_.shutdown.limit, [this](runtime::StopOutcome outcome) {
      using runtime::StopOutcome;
      const std::size_t left = driver_->relay().outbound().in_flight();
      if (left > 0) {
        say(fmt::format("{} events were not acknowledged in time; they are sent again at the next start", left));
      } else if (outcome == StopOutcome::kInDoubt) {
        say("what was acknowledged last could not be saved in time; it is sent again at the next start");
      }
      if (outcome == StopOutcome::kLeaseNotFreed) {
        say("the database did not answer in time: the lease is not freed, it runs out by itself");
      }
      exit_status_ = outcome == StopOutcome::kClean ? kExitDone : kExitFailed;
      loop_.stop();
    });
  }

  config::Config config_;
  std::string config_path_;
  telemetry::Log& log_;
  runtime::Loop loop_;
  std::unique_ptr<ports::OutboxStore> store_;
  std::unique_ptr<kafka::KafkaSink> sink_;
  std::shared_ptr<triage::RuleJudge> judge_;  // null: everything is published
  bool key_leads_to_rows_;                    // the record's key has the aggregateid in it
  ServiceManager service_;
  std::unique_ptr<runtime::RelayDriver> driver_;
  std::unique_ptr<Outlook> outlook_;
  std::unique_ptr<ControlLoop> control_;
  std::mt19937_64 engine_{std::random_device{}()};
  resilience::Backoff backoff_{{.base = std::chrono::milliseconds(100), .factor = 2.0, .cap = std::chrono::seconds(5)}};
  runtime::Timer inspecting_{loop_, [this] { inspect(); }};
  runtime::Timer feeding_{loop_, [this] { feed_watchdog(); }};
  std::atomic<bool> hinting_ = false;
  std::thread hinter_;
  std::string waits_because_;
  bool begun_ = false;  // the table was inspected and the driver started
  std::optional<std::chrono::steady_clock::time_point> stopping_since_;
  int exit_status_ = kExitDone;
  runtime::Worker starting_{"start"};
};

}  // namespace

int run_daemon(const config::Config& config, const std::string& config_path) {
  std::optional<telemetry::Log> log(std::in_place, log_options(config));
  auto route = relay::Route::make({.topic = topic_template(config),
                                   .key = config.route.key,
                                   .reconcile_topic = config.route.reconcile_topic,
                                   .cloudevents = config.route.cloudevents});
  auto store = open_store(config);
  auto sink = kafka::KafkaSink::create(sink_settings(config, *log));
  using Judge = base::Result<std::unique_ptr<triage::RuleJudge>>;
  auto judge = store ? open_judge(config, **store) : Judge(nullptr);
  for (const base::Error* error : {route ? nullptr : &route.error(), store ? nullptr : &store.error(),
                                   sink ? nullptr : &sink.error(), judge ? nullptr : &judge.error()}) {
    if (error == nullptr) continue;
    std::cerr << error->message << '\n';
    return kExitWrongUsage;
  }
  Daemon daemon(config, config_path, *log, std::move(*store), std::move(*sink), std::move(*route), std::move(*judge));
  const int status = daemon.run();
  if (status == kExitFailed) {
    log.reset();  // writes what is in its queue
    std::_Exit(status);
  }
  return status;
}

}  // namespace spillway::app
