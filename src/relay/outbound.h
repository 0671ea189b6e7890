// The way out: decides for each row whether it can be sent now, must wait at a gate, or can never be sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "model/row.h"
#include "model/settlement.h"
#include "ports/sink.h"
#include "relay/flights.h"
#include "relay/gate.h"
#include "relay/histogram.h"
#include "relay/route.h"

namespace spillway::relay {

struct OutboundLimits {
  std::size_t bytes_in_flight = 16 << 20;
  std::size_t events_in_flight = 20'000;
  base::Duration unknown_topic_after = std::chrono::seconds(30);
};

// What became of a row that was offered.
enum class Placement : std::uint8_t {
  kSent,
  kBlocked,   // offer the same row again after the next answer or tick
  kDeferred,  // drop it; its gate asks for it when it can go
  kSettle,    // it can never be sent; `settlement()` says why
};

struct Offer {
  const model::Row* row = nullptr;
  std::int64_t db_now_micros = 0;
  Ordinal ordinal = 0;
  std::optional<std::uint32_t> again;             // read again for this gate: goes past the rows that wait there
  const model::Settlement* reconciled = nullptr;  // a rule sends it to the reconcile topic
};

// What an answer of the sink means for the row.
struct Answer {
  enum class Kind : std::uint8_t { kFinished, kWaits, kForget, kStale };
  Kind kind = Kind::kStale;
  Flight flight;
  // How long its partition had answered nothing while rows waited there.
  base::Duration stalled_for = base::Duration::zero();
};

// Rows that a gate wants back.
struct Wanted {
  std::uint32_t gate = 0;
  std::vector<Waiting> rows;
};

struct StuckPartition {
  std::string topic;
  std::int32_t partition = 0;  // -1: the whole topic
  double seconds = 0;
  std::size_t waiting = 0;
  std::string reason;
};

class Outbound {
 public:
  Outbound(Route route, const OutboundLimits& limits, ports::Sink& sink);

  Placement offer(const Offer& offer, base::Instant now);
  // The reason of the last kSettle, complete but for who and when.
  const model::Settlement& settlement() const { return settlement_; }
  // The row as the ledger has it, without verdict and reason.
  model::Settlement describe(const model::Row& row, std::int64_t db_now_micros);

  Answer answered(const ports::Delivery& delivery, base::Instant now);

  // A gate whose waiting rows may go now, or have to be settled now.
  std::optional<Wanted> wanted(base::Instant now);
  // The rows of a Wanted have all been placed, or put back by `defer`.
  void wanted_done(std::uint32_t gate);
  void defer(std::uint32_t gate, const Waiting& row) { gates_[gate].gate.defer(row); }

  // All that waits, to be read again by whoever read it before. Rows that the broker refused stay, and so do those of a
  // topic that sent some back: in between, others could overtake those that are out.
  std::vector<Waiting> take_waiting();

  // How long rows had waited for the topic, which is ready now.
  base::Duration topic_changed(ports::TopicId topic, base::Instant now);

  // Rows in memory are forgotten; answers to what is out no longer finish anything.
  void forget();

  std::size_t in_flight() const { return flights_.count(); }
  std::size_t bytes_in_flight() const { return flights_.bytes(); }
  std::size_t waiting() const;
  std::vector<StuckPartition> stuck(base::Instant now) const;

  const Histogram<12>& publish_seconds() const { return publish_seconds_; }
  // Turns a row's own time into one that can be compared with `now`.
  void clock(std::int64_t db_now_micros, base::Instant now) { db_now_micros_ = db_now_micros, db_now_at_ = now; }
  // What the database's clock shows now, going by the last page.
  std::int64_t db_now_micros(base::Instant now) const {
    return db_now_micros_ +
           std::chrono::duration_cast<std::chrono::microseconds>(base::elapsed(db_now_at_, now)).count();
  }

 private:
  struct Place {
    ports::TopicId topic = 0;
    std::int32_t partition = -1;  // -1: the gate of the topic itself
    Gate gate;
  };
  struct TopicPlaces {
    std::uint32_t own = kNoGate;
    std::vector<std::uint32_t> partitions;
    std::optional<base::Instant> not_ready_since;
    std::optional<base::Instant> missing_since;  // while rows wait for it
    // Rows that were sent came back: until nothing of the topic is out, others could overtake them.
    bool returned = false;
    // The topic changed while rows were read again for a partition: they may belong elsewhere now.
    bool regrouping = false;
  };
  static constexpr std::uint32_t kNoGate = UINT32_MAX;

  TopicPlaces& places(ports::TopicId topic);
  std::uint32_t partition_place(ports::TopicId topic, std::int32_t partition);
  Placement wait_for_topic(const Offer& offer, const Addressed& addressed, ports::TopicId id, base::Instant now);
  bool queues_at(std::uint32_t gate, const Offer& offer) const;
  Placement wait_at(std::uint32_t gate, const Offer& offer);
  Placement settle(const Offer& offer, const Addressed* addressed, std::string reason);
  static model::Settlement describe(const model::Row& row, const Addressed* addressed);
  Placement send(const Offer& offer, const Addressed& addressed, std::uint32_t gate, base::Instant now);
  void came_back(const Flight& flight);
  void regroup(TopicPlaces& places);
  bool share_used(const Gate& gate) const;
  bool may_go(const Place& place, base::Instant now) const;
  bool topic_over(const TopicPlaces& places, base::Instant now) const;
  std::optional<base::Instant> created(const model::Row& row) const;

  Route route_;
  OutboundLimits limits_;
  ports::Sink& sink_;
  Flights flights_;
  std::vector<Place> gates_;
  std::vector<TopicPlaces> topics_;  // by id
  std::string last_topic_;           // most rows go where the one before went
  std::optional<ports::TopicId> last_topic_id_;
  std::size_t next_wanted_ = 0;
  std::uint32_t life_ = 0;
  model::Settlement settlement_;
  // Refused by the broker: read again once, for what the ledger has to know about them.
  std::unordered_map<Ordinal, std::string> refused_;
  std::int64_t db_now_micros_ = 0;
  base::Instant db_now_at_{};
  Histogram<12> publish_seconds_;
};

}  // namespace spillway::relay
