// An OutboxStore in memory, with the faults of a database at hand: for unit tests and for the simulator.
//
// One thread, one process, no clock: what time it is, is what `set_now` was told. Sessions refer to the store and must
// not outlive it. The same calls give the same results.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/time.h"
#include "ports/fake/fake_outbox.h"
#include "ports/outbox_store.h"

namespace spillway::ports {

enum class FakeCall : std::uint8_t {
  kRead,
  kReadAgain,
  kKeysBehind,
  kReadKeys,
  kLoad,
  kSave,
  kRecord,
  kFinish,
  kCleanUp,
  kReleased,
  kReleaseKeys,
  kHeldKeys,
  kAcquire,
  kRenew,
  kRelease,
  kOperator,
  kTriage,
};

// What the database answers to a query about a row; an error is one that the query raises for this row alone.
using FakeQuery = std::function<base::Result<bool>(const Predicate&, const AskedRow&)>;

class FakeOutboxStore final : public OutboxStore {
 public:
  base::Result<std::vector<std::string>> inspect() override;
  std::unique_ptr<OutboxReader> open_reader() override;
  std::unique_ptr<OutboxLedger> open_ledger() override;
  std::unique_ptr<LeaseSession> open_lease() override;
  std::unique_ptr<OperatorSession> open_operator() override;
  std::unique_ptr<TriageSession> open_triage() override;
  bool marks_rows() const override { return false; }
  bool finds_keys() const override { return true; }
  std::string describe() const override { return "an outbox in memory"; }

  // The database's clock, microseconds since 1970. It may go back, as real ones do.
  void set_now(std::int64_t unix_micros) { now_ = unix_micros; }
  std::int64_t now() const { return now_; }

  // The application. `insert` commits at once; `insert_open` waits for `commit` or `roll_back`, so that a row may
  // become visible after rows with a larger seq.
  std::int64_t insert(const FakeRow& row);
  std::int64_t insert_open(const FakeRow& row) { return outbox_.insert(row, now_); }
  void commit(std::int64_t seq) { outbox_.commit(seq); }
  void roll_back(std::int64_t seq) { outbox_.roll_back(seq); }
  // Somebody deletes the row, whatever became of it.
  void erase(std::int64_t seq) { outbox_.erase(seq); }
  std::size_t rows() const { return outbox_.rows(); }
  const Progress& saved() const { return outbox_.progress(); }

  // Queries of triage hold for no row unless told otherwise.
  void answer_queries(FakeQuery query) { query_ = std::move(query); }
  // How many rows were asked about so far, by queries and for newer ones of their key.
  std::size_t rows_asked() const { return rows_asked_; }

  // Away: every call says kUnavailable and does nothing.
  void set_reachable(bool reachable) { reachable_ = reachable; }
  // The next `times` calls of this kind fail so. `done`: they take effect all the same, only the answer is lost.
  void fail_next(FakeCall call, base::Error error, bool done = false, std::size_t times = 1);
  // The server came up again after a crash, or another took its place: a new incarnation.
  void lose_place() { ++life_; }
  // Somebody else takes the lease, however long it would have lasted.
  void lose_lease(const base::Uuid& to, std::chrono::milliseconds ttl);
  // How long a caller is to let each call last. The store itself answers at once: a simulator reads this and waits.
  void set_call_time(base::Duration time) { call_time_ = time; }
  base::Duration call_time() const { return call_time_; }

 private:
  friend class FakeReader;
  friend class FakeLedger;
  friend class FakeLeaseSession;
  friend class FakeOperatorSession;
  friend class FakeTriageSession;

  struct Fault {
    base::Error error;
    bool done = false;
    std::size_t times = 0;
  };
  struct HeldLease {
    Lease lease;
    std::string holder_name;
    std::int64_t expires_at = 0;
  };
  struct LanePause {
    bool paused = false;
    std::string reason;
    std::string who;
    std::int64_t since = 0;
  };

  struct HeldOverride {
    Override limit;
    std::int64_t until = 0;
  };

  // Runs `work` unless a fault stands in the way, and gives the fault's error where there is one.
  template <typename Work>
  auto call(FakeCall kind, Work&& work) -> decltype(work());
  base::Status check_fence(const Fence& fence) const;
  std::string incarnation() const { return "life-" + std::to_string(life_); }
  void take_lease(const base::Uuid& holder, const std::string& holder_name, std::chrono::milliseconds ttl);
  LeaseState lease_state() const;
  Controls controls() const;

  FakeOutbox outbox_;
  std::int64_t now_ = 1'700'000'000'000'000;
  std::int64_t life_ = 1;
  bool reachable_ = true;
  base::Duration call_time_{};
  std::map<FakeCall, Fault> faults_;
  FakeQuery query_ = [](const Predicate&, const AskedRow&) { return false; };
  std::size_t rows_asked_ = 0;
  std::optional<HeldLease> lease_;
  std::map<Lane, LanePause> pauses_;
  std::optional<HeldOverride> override_;
};

}  // namespace spillway::ports
