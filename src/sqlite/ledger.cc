#include "sqlite/ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "sqlite/counters.h"
#include "sqlite/place.h"
#include "sqlite/progress_rows.h"
#include "sqlite/settlement_columns.h"

namespace spillway::sqlite {
namespace {

using model::Settlement;
using model::Verdict;

// Deleting holds the one write lock: writers get their turn between pieces (about 20 ms each).
constexpr std::int64_t kRowsPerDelete = 500;

// What a batch adds to the totals, which never go down; the same verdict again for the same row adds nothing.
struct Totals {
  std::int64_t discarded = 0;
  std::int64_t reconciled = 0;

  void count(Verdict verdict) {
    discarded += verdict == Verdict::kDiscard;
    reconciled += verdict == Verdict::kReconcile;
  }
};

void record_one(Connection& connection, const Settlement& settlement, std::int64_t now, Totals& totals) {
  const char* verdict = to_string(settlement.verdict);
  auto before = connection.use("SELECT verdict, state FROM spillway_settled WHERE seq = ?");
  const bool known = before.bind(settlement.seq).step();
  if (known && before.text(1) == state_name(model::SettlementState::kDone)) return;
  if (!known || before.text(0) != verdict) totals.count(settlement.verdict);
  const std::string id = base::to_string(settlement.id);
  auto upsert = connection.use(
      "INSERT INTO spillway_settled (" SPILLWAY_SQLITE_SETTLEMENT_COLUMNS
      ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      " ON CONFLICT (seq) DO UPDATE SET id = excluded.id, key = excluded.key, topic = excluded.topic,"
      " type = excluded.type, bytes = excluded.bytes, verdict = excluded.verdict, state = excluded.state,"
      " rule = excluded.rule, reason = excluded.reason, who = excluded.who,"
      " since = iif(verdict = excluded.verdict AND state = excluded.state, since, excluded.since)");
  upsert.bind(settlement.seq).bind(id).bind(settlement.key).bind(settlement.topic).bind(settlement.type);
  upsert.bind(settlement.bytes).bind(verdict).bind(state_name(settlement.state)).bind(settlement.rule);
  upsert.bind(settlement.reason).bind(settlement.who).bind(now).run();
}

// The last seq that may go: finished now where nothing is to be kept, else the newest kept position that is old enough.
std::int64_t removable_up_to(Connection& connection, const std::string& name, std::chrono::seconds keep) {
  if (keep <= std::chrono::seconds::zero()) return finished_up_to(load_progress(connection, name));
  const std::int64_t limit = now_millis(connection) - std::chrono::milliseconds(keep).count();
  auto kept =
      connection.use("SELECT at, seq FROM spillway_finished WHERE name = ? AND at <= ? ORDER BY at DESC LIMIT 1");
  if (!kept.bind(name).bind(limit).step()) return 0;
  auto older = connection.use("DELETE FROM spillway_finished WHERE name = ? AND at < ?");
  older.bind(name).bind(kept.integer(0)).run();
  return kept.integer(1);
}

std::int64_t remove_finished(Connection& connection, std::int64_t last_seq, std::int64_t limit) {
  auto remove = connection.use(
      "DELETE FROM spillway_outbox WHERE seq IN (SELECT seq FROM spillway_outbox AS o WHERE seq <= ?"
      " AND NOT EXISTS (SELECT 1 FROM spillway_settled AS s WHERE s.seq = o.seq AND s.state <> 'done')"
      " ORDER BY seq LIMIT ?)");
  return remove.bind(last_seq).bind(limit).run();
}

}  // namespace

base::Result<ports::Loaded> Ledger::load() {
  return session_.answer([&](Connection& connection) {
    const Transaction snapshot(connection, Transaction::Kind::kRead);
    ports::Loaded loaded{load_progress(connection, session_.name()), incarnation(connection),
                         now_millis(connection) * 1000};
    const std::int64_t newest = newest_seq(connection);
    if (const std::int64_t saved = place_of(loaded.progress.live).after; saved > newest) {
      throw Failure(base::ErrorClass::kMisconfigured,
                    fmt::format("{}: sqlite_sequence says {} for spillway_outbox, and rows up to {} were published "
                                "already: new rows would never be sent; set it to {}",
                                connection.path(), newest, saved, saved));
    }
    return loaded;
  });
}

base::Status Ledger::save(const ports::Fence& fence, const ports::SaveRequest& request) {
  return session_.fenced(fence, [&](Connection& connection) {
    store_progress(connection, session_.name(), request.progress, now_millis(connection));
    add_to_counter(connection, kPublishedCounter, request.published);
  });
}

base::Status Ledger::record(const ports::Fence& fence, std::span<const Settlement> settlements) {
  return session_.fenced(fence, [&](Connection& connection) {
    const std::int64_t now = now_millis(connection);
    Totals totals;
    for (const auto& settlement : settlements) record_one(connection, settlement, now, totals);
    add_to_counter(connection, kDiscardedCounter, totals.discarded);
    add_to_counter(connection, kReconciledCounter, totals.reconciled);
  });
}

base::Status Ledger::finish(const ports::Fence& fence, std::span<const std::int64_t> seqs) {
  return session_.fenced(fence, [&](Connection& connection) {
    auto finish_one = connection.use(
        "UPDATE spillway_settled SET state = iif(verdict = 'reconcile', 'open', 'done')"
        " WHERE seq = ? AND state = 'released'");
    for (std::int64_t seq : seqs) {
      finish_one.bind(seq).run();
      finish_one.reset();
    }
  });
}

base::Result<std::int64_t> Ledger::clean_up(const ports::Fence& fence, std::chrono::seconds keep, std::size_t rows) {
  std::int64_t removed = 0;
  while (removed < static_cast<std::int64_t>(rows)) {
    const std::int64_t piece = std::min(kRowsPerDelete, static_cast<std::int64_t>(rows) - removed);
    const auto gone = session_.fenced(fence, [&](Connection& connection) {
      return remove_finished(connection, removable_up_to(connection, session_.name(), keep), piece);
    });
    // What went before a failure is gone: it is reported, and the next call meets the failure again.
    if (!gone && removed == 0) return gone;
    if (!gone || *gone == 0) break;
    removed += *gone;
    if (*gone < piece) break;
  }
  return removed;
}

base::Result<std::vector<Settlement>> Ledger::released(std::int64_t after, std::size_t limit) {
  return session_.answer([&](Connection& connection) {
    auto rows = connection.use("SELECT " SPILLWAY_SQLITE_SETTLEMENT_COLUMNS
                               " FROM spillway_settled WHERE state = 'released' AND seq > ? ORDER BY seq LIMIT ?");
    rows.bind(after).bind(static_cast<std::int64_t>(limit));
    std::vector<Settlement> settlements;
    while (rows.step()) settlements.push_back(settlement_in(rows));
    return settlements;
  });
}

base::Result<std::int64_t> Ledger::release_keys(const ports::Fence& fence, std::span<const std::string> keys) {
  return session_.fenced(fence, [&](Connection& connection) {
    auto release = connection.use(
        "UPDATE spillway_settled SET state = 'released' WHERE key = ? AND state = 'open'"
        " AND verdict IN ('stopped', 'waiting')");
    std::int64_t released = 0;
    for (const std::string& key : keys) {
      released += release.bind(key).run();
      release.reset();
    }
    return released;
  });
}

base::Result<std::vector<ports::HeldKey>> Ledger::held_keys(ports::Holds holds) {
  return session_.answer([holds](Connection& connection) {
    auto rows = connection.use(
        "SELECT key, min(seq), min(seq) FILTER (WHERE state = 'open'),"
        " max(state = 'open' AND verdict = 'set_aside') FROM spillway_settled WHERE key IS NOT NULL"
        " AND state IN ('open', 'released') AND (verdict = 'waiting'"
        " OR (?1 AND verdict <> 'reconcile' AND (state = 'released' OR verdict IN ('stopped', 'set_aside')))) GROUP BY "
        "key ORDER BY key");
    rows.bind(std::int64_t{holds == ports::Holds::kStopKeyToo});
    std::vector<ports::HeldKey> keys;
    while (rows.step()) {
      keys.push_back({std::string(rows.text(0)), rows.integer(1), rows.optional_integer(2), rows.integer(3) != 0});
    }
    return keys;
  });
}

}  // namespace spillway::sqlite
