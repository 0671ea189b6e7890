// A recovery on the real stack: an outbox that has filled up while no relay ran, PostgreSQL, a Kafka broker,
// `spillway run`, a consumer that calls a stand-in bank, and services that go on writing. It plays a simulator's
// scenario, so that the two can be compared. The delays of path and signal are the stack's own: the scenario's only
// make up the dead time that the relay is told. Lateness, noise and wrong units of the signal are not played.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bank/bank.h"
#include "bank/bank_consumer.h"
#include "recovery/backlog.h"
#include "recovery/live_writer.h"
#include "recovery/recorder.h"
#include "recovery/recovery_report.h"
#include "relay/relay_process.h"
#include "sim/scenario.h"
#include "support/kafka_broker.h"
#include "support/postgres_server.h"

namespace spillway::testing {

struct RigOptions {
  sim::Scenario scenario;
  std::string law = "adaptive";
  std::chrono::milliseconds live_age{5'000};
  int targets = 2;                  // metrics endpoints of the bank
  bool retry_topic = false;         // what the consumer gives up on is read again after 30 s, half as much more or less
  std::size_t in_hand = 5'000;      // of the consumer: more than capacity x timeout, so that it protects nobody
  std::int64_t events_per_key = 4;  // of the backlog
  double on_backlog_keys = 0.05;    // share of the live events
  std::vector<std::string> backlog_types = {"order.changed"};
  std::string triage{};  // the section, where there are rules
};

// From a file beside the tests. Throws std::runtime_error where it is not right.
sim::Scenario scenario_file(const std::string& name);

class RecoveryRig {
 public:
  // Everything but relay and live writer is started, the backlog is written and older than lanes.live_age.
  explicit RecoveryRig(RigOptions options);
  ~RecoveryRig();

  // Something to do this long after the relay's start, on the thread that calls run(). Before run().
  void at(double seconds, std::function<void()> action);

  // Starts relay and live writer, plays the scenario, and returns after `limit_s`, or as soon as the backlog is done.
  void run_until_clear(double limit_s) { play(limit_s, true); }
  void run_for(double seconds) { play(seconds, false); }

  // Ends the live writer, waits until everything committed was delivered or `patience` is over, and stops the rest.
  RecoveryReport finish(std::chrono::seconds patience = std::chrono::seconds(60));

  // After finish().
  bool delivered(const std::string& id) const { return consumer_->inbox().knows(id); }

  PostgresServer& server() { return server_; }
  RelayProcess& relay() { return *relay_; }
  bank::Bank& bank() { return *bank_; }
  void spoil_signal(bank::EndpointFault fault);  // all targets
  void spoil_half_of_the_signal(bank::EndpointFault fault);

 private:
  struct Action {
    double at;
    std::function<void()> what;
  };

  void plan_scenario();
  void plan_span(const std::vector<sim::Span>& spans, const std::function<void()>& begin,
                 const std::function<void()>& end);
  void start_consumer();
  void play(double limit_s, bool until_clear);
  void sample(double at);
  double now_s() const;
  bool clear() const;
  void count_settled();
  void measure_live(RecoveryReport& report) const;
  void measure_ceiling(RecoveryReport& report) const;
  std::int64_t count_lost() const;

  RigOptions options_;
  PostgresServer server_;
  KafkaBroker broker_;
  BacklogSpec backlog_;
  std::optional<Recorder> recorder_;  // outlives bank and consumer
  std::optional<bank::Bank> bank_;
  std::optional<bank::BankConsumer> consumer_;
  std::optional<RelayProcess> relay_;
  std::optional<LiveWriter> writer_;
  std::vector<Action> actions_;
  std::vector<StatusSample> statuses_;
  std::chrono::steady_clock::time_point origin_;
  double played_s_ = 0;
  std::int64_t settled_ = 0;  // discarded or reconciled, when last counted
};

}  // namespace spillway::testing
