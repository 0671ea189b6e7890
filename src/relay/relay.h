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
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/row.h"
#include "ports/judge.h"
#include "ports/outbox_store.h"
#include "ports/sink.h"
#include "relay/allowance.h"
#include "relay/clear_keys.h"
#include "relay/free_keys.h"
#include "relay/key_stop.h"
#include "relay/lane_tally.h"
#include "relay/lanes.h"
#include "relay/live_reach.h"
#include "relay/outbound.h"
#include "relay/poll_pace.h"
#include "relay/promotion.h"
#include "relay/question.h"
#include "relay/released.h"
#include "relay/requests.h"
#include "relay/save_plan.h"
#include "relay/unrecorded.h"
#include "relay/went_ahead.h"

namespace spillway::relay {

struct RelayOptions {
  OutboundLimits outbound;
  std::size_t ahead = 100'000;
  bool stop_key = false;    // route.on_rejected: stop_key
  bool marks_rows = false;  // OutboxStore::marks_rows
  // Live and backlog are told apart; needs OutboxStore::finds_keys.
  bool lanes = false;
  base::Duration live_age = std::chrono::seconds(5);
  bool triage = false;  // backlog is judged before it is sent
  // A key with backlog that a live event waits behind goes first; otherwise the event waits its turn. Not with triage:
  // rows are judged in the order of the lane.
  bool promote = false;
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
  std::int64_t arrived_live = 0;  // rows that live traffic brought to be sent now
  std::int64_t sent = 0;          // handed to the sink, some of them again
  std::int64_t waited = 0;        // live rows that had to wait for their key's backlog
  std::int64_t recoveries = 0;    // times that what was left behind became backlog
  std::int64_t set_aside = 0;
  std::int64_t forgotten = 0;  // times that memory was dropped and the saved position loaded again
  std::int64_t saves = 0;
  std::int64_t read_again = 0;
};

class Relay {
 public:
  // `uniform` gives numbers in [0, 1): the jitter of waits after a failure.
  Relay(Route route, const RelayOptions& options, ports::Sink& sink, std::function<double()> uniform);

  // Before it starts: whether live and backlog can be told apart, and whether backlog is judged.
  void use_lanes(bool lanes, bool triage);

  // What happened.
  void lease_held(const ports::Lease& lease, base::Instant now);
  void lease_lost();
  void drain();  // SIGTERM: finish what is out, send nothing new
  void pause(bool paused) { paused_ = paused; }
  void pause_backlog(bool paused) { backlog_paused_ = paused; }
  void judge(bool wanted) { options_.triage = options_.lanes && wanted; }
  // How fast rows may go from now on; without limit until the first call. A capacity that the law knows is kept with
  // the progress.
  void pace(const governor::Decision& decision);
  void hint() { pace_.hint(); }  // rows may have arrived
  // `judgements`: where the request asked for them.
  void read_done(base::Result<model::Page> page, base::Instant now, std::vector<ports::Judgement> judgements = {});
  void keys_behind_done(const base::Result<std::vector<std::size_t>>& keys, base::Instant now);
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
  const LaneTallies& tallies() const { return tallies_; }
  // Rows that rules kept from being published, by rule and verdict.
  const std::map<std::pair<std::string, model::Verdict>, std::uint64_t>& triaged() const { return triaged_; }
  bool lanes_apart() const { return options_.lanes; }
  const Outbound& outbound() const { return outbound_; }
  // Rows known to the relay and not finished.
  std::size_t unfinished() const { return lanes_.open(); }
  bool held_by_ahead() const { return lanes_.live().window().ahead() >= ahead_of_a_lane(); }
  bool caught_up() const { return reach_.caught_up() && lanes_.backlog().empty(); }
  // How long ago all live rows of then had been read; empty while that is not known.
  std::optional<base::Duration> behind(base::Instant now) const { return reach_.behind(now); }
  // Live rows in memory that may not go yet.
  std::size_t live_unplaced() const { return lanes_.live().unplaced(); }
  const Lanes& lanes() const { return lanes_; }
  // events/s that downstream was last found to take, by this relay or, less than ten minutes ago, by one before it;
  // 0 = not known.
  double capacity() const { return capacity_; }
  bool paused() const { return paused_; }
  const std::optional<base::Error>& store_error() const { return store_error_; }
  const std::string& forgot_because() const { return forgot_because_; }

 private:
  enum class Purpose : std::uint8_t {
    kLive,
    kBacklog,
    kAgain,
    kKeysOfLive,
    kKeysOfReleased,
    kKeysToRelease,
    kPromotion
  };
  struct Again {
    std::optional<std::uint32_t> gate{};  // that wants them; empty: released rows that were never read
    std::vector<Waiting> rows{};          // by seq
  };
  struct Reading {
    Purpose purpose = Purpose::kLive;
    std::vector<ports::KeyBefore> keys{};  // that are looked up
    Again again{};                         // what is read again
  };

  bool is_reading(Purpose purpose) const { return read_.out() && read_.out()->purpose == purpose; }
  void forget(std::string why);
  void live_read(model::Page page, base::Instant now);
  bool promotes() const { return options_.promote && !options_.triage; }
  std::optional<ReadRequest> promotion_request(base::Instant now);
  void promotion_read(model::Page page);
  void promotions_completed();
  void backlog_read(model::Page page, std::vector<ports::Judgement> judgements);
  void take_judgements(Interval& interval, Batch& batch, std::vector<ports::Judgement> judgements);
  void again_read(model::Page page, const Again& again);
  void read_failed(const base::Error& error, const Reading& reading, base::Instant now);
  void note_rows(const model::Page& page);
  bool pump_batch(Batch& batch, const Window* window, base::Instant now);
  bool pump_row(const Batch& batch, bool in_lane, base::Instant now);
  void pump_live(base::Instant now);
  void pump_backlog(base::Instant now);
  void finish(std::int64_t seq, Ordinal ordinal);
  void recorded(std::int64_t seq, Ordinal ordinal);
  void finish_ahead(std::int64_t seq);
  void backlog_finished();
  bool too_late(base::Instant now) const;
  bool recovery_due(base::Instant now) const;
  void recover(base::Instant now);
  void split(base::Instant now);
  void put_back_reads();
  void look_up_live_again();
  std::vector<Ordinal> put_back_waiting();
  void leave(const Lane& lane, const std::vector<Ordinal>& waited);
  void settle(model::Settlement settlement, Ordinal ordinal);
  void put_back(std::optional<std::uint32_t> gate, const Waiting& row);
  void put_back(const Again& again);
  bool may_read_released() const;
  // Rows that had waited are released for good; what they had waited for may be read again after a crash.
  bool released_follow_backlog() const { return !lanes_.backlog().empty(); }
  ReadRequest keys_request(Reading reading, std::vector<model::Position> places, base::Instant now);
  static model::Settlement stays_behind(const model::Row& row, model::Verdict verdict, const char* reason);
  void stalled(base::Duration stalled_for);
  void finished(const Flight& flight, base::Instant now);
  Flow flow_of(Ordinal ordinal) const;
  void ledger_failed(const base::Error& error, base::Instant now);
  void loaded(const ports::Loaded& loaded, base::Instant now);
  void keys_held(const std::vector<ports::HeldKey>& keys, base::Instant now);
  std::size_t ahead_of_a_lane() const;
  bool room_in(const Lane& lane) const;
  std::size_t page_bytes() const;
  ReadRequest page_request(const Lane& lane, Purpose purpose, std::size_t most_rows, base::Instant now);
  std::optional<ReadRequest> again_request(base::Instant now);
  std::optional<ReadRequest> backlog_request(base::Instant now);
  std::optional<ReadRequest> keys_request(base::Instant now);
  Batch* unready_live();
  void live_keys_found(const std::vector<ports::KeyBefore>& keys, const std::vector<bool>& behind);
  ReadRequest read_request(ReadRequest::Kind kind, Reading reading, base::Instant now);
  LedgerRequest held_keys_request(base::Instant now);
  std::optional<LedgerRequest> save_request(base::Instant now);
  std::optional<LedgerRequest> released_request(base::Instant now);
  LedgerRequest ledger_request(LedgerRequest::Kind kind, base::Instant now);

  RelayOptions options_;
  Outbound outbound_;
  KeyStop key_stop_;
  PollPace pace_;

  RelayState state_ = RelayState::kStandby;
  bool paused_ = false;
  bool draining_ = false;
  ports::Fence fence_;

  Lanes lanes_;
  Promotion promotion_;
  std::deque<Batch> promoted_;  // rows of keys that go first
  WentAhead went_ahead_;
  std::deque<Batch> asides_;  // read again, and released rows: outside the order of pages
  Question<Reading> read_;
  ClearKeys clear_keys_;
  LiveReach reach_;
  bool stall_over_ = false;  // of a partition that rows have waited for so long that they are backlog
  Allowance allowance_;
  double capacity_ = 0;  // events/s
  bool backlog_paused_ = false;
  std::size_t average_row_ = 512;

  std::function<double()> uniform_;
  Question<LedgerRequest::Kind> ledger_;
  Unrecorded unrecorded_;
  SavePlan saves_;

  Released released_;
  FreeKeys free_keys_;

  RelayCounters counters_;
  LaneTallies tallies_;
  std::map<std::pair<std::string, model::Verdict>, std::uint64_t> triaged_;
  std::optional<base::Error> store_error_;
  std::string forgot_because_;
};

}  // namespace spillway::relay
