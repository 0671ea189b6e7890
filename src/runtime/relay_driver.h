// Drives one relay: carries its requests to the store's threads and the sink, and their answers back.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "ports/judge.h"
#include "ports/outbox_store.h"
#include "ports/sink.h"
#include "relay/lease_keeper.h"
#include "relay/relay.h"
#include "runtime/loop.h"
#include "runtime/worker.h"

namespace spillway::runtime {

// How the end went.
enum class StopOutcome {
  kClean,
  kInDoubt,       // rows that were out are sent again by the next owner
  kLeaseNotFreed  // the store did not answer in time: the next owner waits until the lease has run out
};

struct DriverOptions {
  relay::RelayOptions relay;
  relay::LeaseKeeper::Times lease;
  std::string holder_name;                           // shown to people: host and process
  std::optional<std::chrono::seconds> keep;          // cleanup; empty = never
  std::shared_ptr<ports::Judge> judge;               // asked where the relay wants a page judged
  std::function<void(const std::string&)> on_event;  // one line for the log
};

// Loop thread only. The store and the sink must outlive it.
class RelayDriver {
 public:
  RelayDriver(Loop& loop, ports::OutboxStore& store, ports::Sink& sink, int sink_fd, relay::Route route,
              DriverOptions options);
  ~RelayDriver();

  // Until then its loop turns, and nothing is asked of the store.
  void start();
  // Sends nothing new, waits for what is out and for the last save, frees the lease, then calls `done`: what is out has
  // `limit`, the lease as long and at least a second more. Jobs of the store may still be running then.
  void stop(base::Duration limit, std::function<void(StopOutcome)> done);

  void hint();

  const relay::Relay& relay() const { return relay_; }
  // Before the start.
  void use_lanes(bool lanes) { relay_.use_lanes(lanes, options_.judge != nullptr); }
  void pace(const governor::Decision& decision) { relay_.pace(decision); }
  // From the next page on.
  void judge_by(std::shared_ptr<ports::Judge> judge) {
    options_.judge = std::move(judge);
    relay_.judge(options_.judge != nullptr);
  }
  const relay::LeaseKeeper& lease() const { return keeper_; }
  // When the loop last came by; frozen when the loop is.
  base::Instant last_turn() const { return last_turn_; }
  // What people ask for, as the store last said at `controls_at`.
  const ports::Controls& controls() const { return controls_; }
  base::Instant controls_at() const { return controls_at_; }
  // Whether the store has answered at all since the start.
  bool store_reached() const { return store_reached_; }

 private:
  void turn();
  void say_recovery();
  void check_lease(base::Instant now);
  void ask_lease(base::Instant now);
  void dispatch(base::Instant now);
  void read(relay::ReadRequest request);
  void look_up_keys(relay::ReadRequest request);
  void write(relay::LedgerRequest request);
  void watch_controls(base::Instant now);
  void clean_up(base::Instant now);
  void look_ahead(base::Instant now);
  void finish_stop(base::Instant now);
  void stopped(StopOutcome outcome);
  void say(const std::string& line) const;

  Loop& loop_;
  ports::Sink& sink_;
  DriverOptions options_;
  relay::Relay relay_;
  relay::LeaseKeeper keeper_;
  base::Uuid holder_;
  ports::SinkEvents events_;
  ports::Controls controls_;
  base::Instant controls_at_{};
  bool started_ = false;
  bool store_reached_ = false;
  bool held_ = false;
  std::int64_t recoveries_ = 0;
  bool recovering_ = false;
  base::Instant last_turn_{};

  bool control_out_ = false;
  base::Instant control_due_{};
  bool cleaning_ = false;
  base::Instant clean_due_{};
  bool looking_ahead_ = false;
  base::Instant look_ahead_due_{};
  std::string said_ahead_;  // what kept it from looking ahead, said once

  std::function<void(StopOutcome)> on_stopped_;
  base::Instant stop_by_{};
  bool stopping_ = false;
  bool releasing_ = false;

  std::unique_ptr<ports::OutboxReader> reader_;
  std::unique_ptr<ports::OutboxLedger> ledger_;
  std::unique_ptr<ports::OutboxLedger> cleaner_;
  std::unique_ptr<ports::LeaseSession> lease_session_;
  std::unique_ptr<ports::OperatorSession> control_;
  Timer timer_;
  Watch watch_;
  // One thread a connection: a slow read, a blocked save or a long cleanup must not delay a renewal. Last, so that they
  // end before what their jobs use.
  Worker reading_{"outbox-read"};
  Worker writing_{"outbox-ledger"};
  Worker leasing_{"outbox-lease"};
  Worker tending_{"outbox-tend"};
};

}  // namespace spillway::runtime
