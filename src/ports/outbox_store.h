// The outbox as a store sees it. An OutboxStore opens sessions; each session is one connection.
//
// Threads: an OutboxStore may be shared; a session belongs to one thread at a time. Every call blocks for at most the
// store's own time limit (5 s unless stated), also when the other side has vanished without a word.
//
// Failures: a session that lost its connection says kUnavailable (or kTransient for a statement that may simply be
// tried again) and connects anew at its next call; it never needs to be reopened. Nothing here counts attempts.
//
// The contract suite in contract/outbox_store_contract.h runs on every implementation.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/uuid.h"
#include "model/position.h"
#include "model/row.h"
#include "model/settlement.h"
#include "ports/override.h"
#include "ports/triage_session.h"

namespace spillway::ports {

// Under which terms the relay acts: whose lease, and which life of the server. Writes happen only while both hold.
struct Fence {
  base::Uuid holder;
  std::int64_t epoch = 0;
  std::string incarnation;  // from Loaded; changes with every crash recovery and promotion, not with a clean restart
};

struct ReadLimits {
  std::size_t rows = 1000;
  // A page stops after the row that passes this many bytes, so it holds at least one row whatever its size.
  std::size_t bytes = 1 << 20;
};

// What was left behind when a recovery began.
struct Interval {
  model::Position at{};  // its frame is closed
  std::int64_t began_unix_micros =
      0;  // when it became backlog, by the database's clock: its events are judged as of then
  std::optional<std::int64_t>
      judged{};  // rows of its frame up to this seq have their verdict: unless recorded, publish

  bool operator==(const Interval&) const = default;
};

// Where the relay stands. Everything before `live`, and outside the `backlog` intervals, is finished.
struct Progress {
  model::Position live{};
  std::vector<Interval> backlog{};          // oldest first
  std::int64_t read_up_to_unix_micros = 0;  // all that was visible then has been read; 0 = nothing was
  double capacity = 0;                      // events/s that downstream was found to take; 0 = not known

  bool operator==(const Progress&) const = default;
};

struct KeyBefore {
  std::string key{};
  std::int64_t before = std::numeric_limits<std::int64_t>::max();  // seq
};

struct KeyAfter {
  std::string key{};
  std::int64_t after = 0;  // seq
};

class OutboxReader {
 public:
  virtual ~OutboxReader() = default;

  // The rows that follow `from`. Rows already recorded in the ledger as settled or released are left out.
  // An empty page means: nothing there now; its `next` may still have moved and is where to ask again.
  // kLostPlace where the server's incarnation is not the one given.
  virtual base::Result<model::Page> read(const model::Position& from, const std::string& incarnation,
                                         ReadLimits limits) = 0;

  // These rows again, in order of seq; `seqs` is ascending. Rows that are gone are left out. The page's frame and next
  // are empty; it may stop early because of the limits, `more` says so.
  virtual base::Result<model::Page> read_again(std::span<const std::int64_t> seqs, const std::string& incarnation,
                                               ReadLimits limits) = 0;

  // Which of these keys have rows of a smaller seq than `before` beyond one of `places`, the frames of which are
  // closed: indexes into `keys`, ascending. Rows in the ledger do not count. Only where OutboxStore::finds_keys.
  virtual base::Result<std::vector<std::size_t>> keys_behind(std::span<const KeyBefore> keys,
                                                             std::span<const model::Position> places,
                                                             const std::string& incarnation) = 0;

  // The rows of these keys with a larger seq than `after` beyond one of `places`, one key after the other, each in
  // order of seq. Frame and next are empty; `more`: it stopped early because of the limits. Otherwise as keys_behind.
  virtual base::Result<model::Page> read_keys(std::span<const KeyAfter> keys, std::span<const model::Position> places,
                                              const std::string& incarnation, ReadLimits limits) = 0;
};

struct SaveRequest {
  Progress progress{};
  // Rows acknowledged since the last save that succeeded; added to Figures::published.
  std::int64_t published = 0;
  // Which ones, ascending; filled only for stores with marks_rows.
  std::vector<std::int64_t> finished{};
};

struct Loaded {
  Progress progress{};
  std::string incarnation{};
  std::int64_t db_now_micros = 0;
};

// Which recorded rows hold back the later ones of their key.
enum class Holds : std::uint8_t {
  kWaiting,     // those that wait for their key's backlog, until they are finished
  kStopKeyToo,  // also those that were stopped, set aside, or released and are not finished
};

// A key with such rows.
struct HeldKey {
  std::string key;
  std::int64_t first = 0;                    // the first of these rows
  std::optional<std::int64_t> first_open{};  // the first that is open
  bool set_aside = false;                    // one that is open was set aside: it needs a person (kStopKeyToo)

  bool operator==(const HeldKey&) const = default;
};

class OutboxLedger {
 public:
  virtual ~OutboxLedger() = default;

  // The saved progress; the very beginning where nothing was saved yet.
  virtual base::Result<Loaded> load() = 0;

  // All four are durable when they return success, and change nothing when they do not: kLostLease where the lease is
  // not the fence's, kLostPlace where the incarnation is not.
  virtual base::Status save(const Fence& fence, const SaveRequest& request) = 0;

  // Upserts by seq, so a call may be repeated.
  virtual base::Status record(const Fence& fence, std::span<const model::Settlement> settlements) = 0;

  // Released rows that have been acknowledged: they become history; what a rule reconciled becomes open.
  virtual base::Status finish(const Fence& fence, std::span<const std::int64_t> seqs) = 0;

  // Removes rows that are finished in every lane, not open in the ledger, and published for at least `keep`; at most
  // `rows` of them. How long a row has been published comes from saved positions, never from created_at. The number
  // removed.
  virtual base::Result<std::int64_t> clean_up(const Fence& fence, std::chrono::seconds keep, std::size_t rows) = 0;

  // Makes room for the rows to come, where a store has such a thing; to be asked about once an hour, by the holder of
  // the lease. A failure is for people, and nothing else stops because of it; kTransient: try again soon.
  virtual base::Status look_ahead() { return {}; }

  // Settlements that the relay has to act on: kReleased ones with seq > after, ascending by seq, at most `limit`.
  virtual base::Result<std::vector<model::Settlement>> released(std::int64_t after, std::size_t limit) = 0;

  // Open kStopped and kWaiting rows of these keys become kReleased. The number released.
  virtual base::Result<std::int64_t> release_keys(const Fence& fence, std::span<const std::string> keys) = 0;

  // By key.
  virtual base::Result<std::vector<HeldKey>> held_keys(Holds holds) = 0;
};

struct Lease {
  base::Uuid holder;
  std::int64_t epoch = 0;
};

struct LeaseState {
  bool mine = false;
  Lease lease{};                           // the current one, whoever holds it
  std::string holder_name{};               // host and process, for people
  std::chrono::milliseconds expires_in{};  // by the database's clock; negative when it has run out
};

class LeaseSession {
 public:
  virtual ~LeaseSession() = default;

  // Takes the lease where it is free, expired or already this holder's; epoch rises with every change of holder.
  virtual base::Result<LeaseState> acquire(const base::Uuid& holder, const std::string& holder_name,
                                           std::chrono::milliseconds ttl) = 0;
  // kLostLease where it is no longer ours. Any other failure says nothing about whether it still is.
  virtual base::Status renew(const Lease& lease, std::chrono::milliseconds ttl) = 0;
  // Frees it at once for the next; quietly does nothing where it is not ours.
  virtual base::Status release(const Lease& lease) = 0;
};

enum class Lane : std::uint8_t { kAll, kBacklog };

struct Pause {
  bool all = false;
  bool backlog = false;
  std::string reason{};
  std::string who{};
  std::int64_t since_unix_micros = 0;
};

// What people asked of every relay of this outbox.
struct Controls {
  Pause pause{};
  std::optional<Override> limit{};  // empty also once it has ended
};

// How much waits behind the saved progress. Counts are exact up to 10,000 and estimated beyond.
struct Figures {
  std::int64_t waiting_rows = 0;
  bool estimated = false;
  std::optional<double>
      oldest_age_s{};              // of the oldest waiting row, by the database's clock, never negative; empty = none
  std::int64_t waiting_bytes = 0;  // estimated from a sample
  std::int64_t open_settlements = 0;  // that need a person
  std::int64_t behind_their_key = 0;  // live rows that wait for their key's backlog, and are on record as such
  std::optional<double> oldest_open_age_s{};
  std::optional<LeaseState> lease{};
  std::optional<double> progress_age_s{};  // since the last save; empty = never saved
  std::int64_t published = 0;              // the sum of what saves reported
  std::int64_t discarded = 0;
  std::int64_t reconciled = 0;
  std::optional<double> seq_headroom{};  // share of the key's range still free, 0..1
  std::int64_t seq_cache = 1;            // numbers that a writer's session takes at once; above 1 order may suffer
  Pause pause{};
  std::optional<Override> limit{};
};

// Which settlements a bulk action means. Empty fields do not narrow.
struct SettlementFilter {
  std::vector<base::Uuid> ids{};
  std::string rule{};
  std::string type{};
  std::optional<std::int64_t> before_unix_micros{};
  std::optional<std::int64_t> up_to_seq{};  // fixed at the preview, so that later arrivals are not meant
  bool open_only = true;
  std::size_t limit = 1000;
};

// A row that is in the table, whatever became of it.
struct Whereabouts {
  model::Page page;  // that row alone
  // Not finished as far as the saved progress says, which is a little behind what was acknowledged. The ledger is not
  // looked at.
  bool waiting = false;
};

// What people do to an outbox, relay up or not.
class OperatorSession {
 public:
  virtual ~OperatorSession() = default;

  virtual base::Result<Figures> figures() = 0;

  virtual base::Status pause(Lane lane, const std::string& reason, const std::string& who) = 0;
  virtual base::Status resume(Lane lane, const std::string& reason, const std::string& who) = 0;
  // Takes the place of the one before. kRejected where check(request) says so.
  virtual base::Status set_override(const OverrideRequest& request) = 0;
  // Quietly does nothing where none is in force.
  virtual base::Status clear_override(const std::string& reason, const std::string& who) = 0;
  virtual base::Result<Controls> controls() = 0;

  virtual base::Result<std::vector<model::Settlement>> settlements(const SettlementFilter& filter) = 0;
  // The row behind a settlement with payload and headers; empty page where it is gone.
  virtual base::Result<model::Page> settled_row(const base::Uuid& id) = 0;
  // Empty where no row has this id: it was cleaned up, or was never here.
  virtual base::Result<std::optional<Whereabouts>> whereabouts(const base::Uuid& id) = 0;
  // kPublish releases the rows for the relay to send, kDiscard closes them; rows stopped behind them by their key
  // become released in order and are not counted. The number resolved.
  virtual base::Result<std::int64_t> resolve(const SettlementFilter& filter, model::Verdict verdict,
                                             const std::string& reason, const std::string& who) = 0;
};

class OutboxStore {
 public:
  virtual ~OutboxStore() = default;

  // Whether a relay can work on this table: kMisconfigured with the remedy where it cannot. The strings are warnings.
  virtual base::Result<std::vector<std::string>> inspect() = 0;

  virtual std::unique_ptr<OutboxReader> open_reader() = 0;
  virtual std::unique_ptr<OutboxLedger> open_ledger() = 0;
  virtual std::unique_ptr<LeaseSession> open_lease() = 0;
  virtual std::unique_ptr<OperatorSession> open_operator() = 0;
  virtual std::unique_ptr<TriageSession> open_triage() = 0;

  // A table without snapshots, where each row is marked as it is acknowledged (compatibility mode).
  virtual bool marks_rows() const = 0;
  // Whether an index leads to the rows of a key: without one there are no lanes. Known once `inspect` has succeeded.
  virtual bool finds_keys() const = 0;

  // "PostgreSQL app@127.0.0.1:5432/app" or "SQLite /var/lib/app.db": for people, without secrets.
  virtual std::string describe() const = 0;
};

// Wakes the relay early when rows may have arrived. Optional: polling alone is enough.
class ArrivalHint {
 public:
  virtual ~ArrivalHint() = default;

  // Blocks until a hint came (true) or the time is over (false). kMisconfigured where notifications do not get through,
  // for example behind a transaction pooler.
  virtual base::Result<bool> wait(std::chrono::milliseconds limit) = 0;
};

}  // namespace spillway::ports
