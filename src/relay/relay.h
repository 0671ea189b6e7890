// The relay of one outbox: reads rows in order, sends them, and saves the place up to which all is finished.
//
// One object, one thread. It opens nothing and reads no clock: it is told what happened and when, and asked what to do
// next. The daemon and the simulator drive the same object.
//
//   relay.lease_held(lease, now);
//   loop: while (auto r = relay.next_read(now)) …; while (auto w = relay.next_ledger(now)) …; relay.pump(now);
//         and when nothing is left to do, sleep until relay.next_wake(now) or the next answer.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/row.h"
#include "ports/outbox_store.h"
#include "ports/sink.h"
#include "relay/key_stop.h"
#include "relay/outbound.h"
#include "relay/poll_pace.h"
#include "relay/released.h"
#include "relay/requests.h"
#include "relay/window.h"
#include "spillway/resilience/backoff.h"

namespace spillway::relay {

struct RelayOptions {
  OutboundLimits outbound;
  std::size_t ahead = 100'000;
  bool stop_key = false;    // route.on_rejected: stop_key
  bool marks_rows = false;  // OutboxStore::marks_rows
  base::Duration poll_busy = std::chrono::milliseconds(2);
  base::Duration poll_idle = std::chrono::milliseconds(50);
  base::Duration save_every = std::chrono::milliseconds(100);
  std::int64_t save_rows = 10'000;
};

enum class RelayState : std::uint8_t {
  kStandby,  // another holds the lease
  kLoading,  // asks the store where to go on
  kRunning,
  kDraining,  // sends nothing new; waits for answers and the last save
};

constexpr const char* to_string(RelayState state) {
  switch (state) {
    case RelayState::kStandby: return "standby";
    case RelayState::kLoading: return "loading";
    case RelayState::kRunning: return "running";
    case RelayState::kDraining: return "draining";
  }
  return "unknown";
}

struct RelayCounters {
  std::int64_t read = 0;
  std::int64_t published = 0;
  std::int64_t published_bytes = 0;
  std::int64_t set_aside = 0;
  std::int64_t forgotten = 0;  // times that memory was dropped and the saved position loaded again
  std::int64_t saves = 0;
  std::int64_t read_again = 0;
};

class Relay {
 public:
  // `uniform` gives numbers in [0, 1): the jitter of waits after a failure.
  Relay(Route route, const RelayOptions& options, ports::Sink& sink, std::function<double()> uniform);

  // What happened.
  void lease_held(const ports::Lease& lease, base::Instant now);
  void lease_lost();
  void drain();  // SIGTERM: finish what is out, send nothing new
  void pause(bool paused) { paused_ = paused; }
  void hint() { pace_.hint(); }  // rows may have arrived
  void read_done(base::Result<model::Page> page, base::Instant now);
  void ledger_done(const LedgerAnswer& answer, base::Instant now);
  void sink_events(const ports::SinkEvents& events, base::Instant now);

  // Sends what can be sent. Cheap when there is nothing to do.
  void pump(base::Instant now);

  // What to do next. A request stays out until its answer comes.
  std::optional<ReadRequest> next_read(base::Instant now);
  std::optional<LedgerRequest> next_ledger(base::Instant now);
  base::Instant next_wake(base::Instant now) const;

  // Under which terms it writes; for others who write on its behalf.
  const ports::Fence& fence() const { return fence_; }

  // How it stands.
  RelayState state() const { return state_; }
  bool drained() const;
  const RelayCounters& counters() const { return counters_; }
  const Outbound& outbound() const { return outbound_; }
  // Rows known to the relay and not finished.
  std::size_t unfinished() const { return window_.open(); }
  bool held_by_ahead() const { return window_.ahead() >= options_.ahead; }
  bool caught_up() const { return caught_up_; }
  bool paused() const { return paused_; }
  const std::optional<base::Error>& store_error() const { return store_error_; }
  const std::string& forgot_because() const { return forgot_because_; }

 private:
  // A page on its way out, row by row.
  struct Batch {
    model::Page page;
    std::size_t next = 0;
    std::vector<Ordinal> ordinals;      // of each row
    std::optional<std::uint32_t> gate;  // read again for this one
    bool in_order = false;              // a page of the lane, which limits.ahead holds up
    bool done() const { return next == page.rows.size(); }
  };
  struct Again {                        // what the read that is out is for
    std::optional<std::uint32_t> gate;  // empty: released rows that were never read
    std::vector<Waiting> rows;          // by seq
  };
  struct Unrecorded {
    model::Settlement settlement;
    Ordinal ordinal = 0;  // finished once recorded
  };

  void forget(std::string why);
  void page_read(model::Page page, base::Instant now);
  void again_read(model::Page page, const Again& again);
  bool pump_batch(Batch& batch, base::Instant now);
  void settle(model::Settlement settlement, Ordinal ordinal);
  void put_back(const Again& again, const Waiting& row);
  bool may_read_released() const;
  bool placing_released() const;
  static model::Settlement stopped(const model::Row& row);
  void finished(const Flight& flight);
  void ledger_failed(const base::Error& error, base::Instant now);
  void loaded(const ports::Loaded& loaded, base::Instant now);
  void keys_held(const std::vector<ports::HeldKey>& keys, base::Instant now);
  bool room_to_read() const;
  std::size_t page_bytes() const;
  std::optional<ReadRequest> again_request(base::Instant now);
  std::optional<LedgerRequest> save_request(base::Instant now);
  std::optional<LedgerRequest> released_request(base::Instant now);
  LedgerRequest ledger_request(LedgerRequest::Kind kind);

  RelayOptions options_;
  Outbound outbound_;
  KeyStop key_stop_;
  PollPace pace_;

  RelayState state_ = RelayState::kStandby;
  bool paused_ = false;
  bool draining_ = false;
  ports::Fence fence_;
  std::uint32_t life_ = 0;  // rises when memory is forgotten; answers to questions of an earlier life are dropped
  std::uint32_t reading_life_ = 0;
  std::uint32_t ledger_life_ = 0;

  model::Position read_from_;
  Window window_;
  std::deque<Batch> batches_;  // pages in reading order
  std::deque<Batch> asides_;   // read again, and released rows: outside the order of pages
  bool read_out_ = false;
  std::optional<Again> again_out_;
  bool caught_up_ = false;
  std::size_t average_row_ = 512;

  std::function<double()> uniform_;
  resilience::Backoff read_backoff_;
  resilience::Backoff ledger_backoff_;
  std::optional<LedgerRequest::Kind> ledger_out_;
  base::Instant ledger_not_before_{};
  base::Instant read_not_before_{};
  std::deque<Unrecorded> unrecorded_;
  std::size_t recording_ = 0;  // of unrecorded_, from the front
  model::Position saved_;
  model::Position saving_;
  std::int64_t saving_published_ = 0;
  std::vector<std::int64_t> acknowledged_;  // since the last save that succeeded; only with marks_rows
  std::size_t saving_acknowledged_ = 0;     // of acknowledged_, from the front
  std::int64_t unsaved_published_ = 0;
  bool unsaved_recorded_ = false;  // rows were recorded in the ledger since the last save
  base::Instant last_save_{};

  Released released_;
  std::size_t finishing_ = 0;  // of released_.finished(), from the front
  base::Instant released_due_{};
  std::vector<std::string> keys_to_release_;
  base::Instant keys_due_{};
  bool keys_known_ = false;
  int lane_ends_ = 0;  // times in this life that reading came to the end of a frame

  RelayCounters counters_;
  std::optional<base::Error> store_error_;
  std::string forgot_because_;
};

}  // namespace spillway::relay
