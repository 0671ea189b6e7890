#include "sqlite/operator_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sqlite/audit.h"
#include "sqlite/counters.h"
#include "sqlite/lease_session.h"
#include "sqlite/progress_rows.h"
#include "sqlite/row_columns.h"
#include "sqlite/settlement_columns.h"
#include "sqlite/waiting.h"

namespace spillway::sqlite {
namespace {

using model::Settlement;
using model::Verdict;

constexpr char kSelected[] =
    "SELECT " SPILLWAY_SQLITE_SETTLEMENT_COLUMNS
    " FROM spillway_settled WHERE (?1 IS NULL OR id IN (SELECT value FROM json_each(?1)))"
    " AND (?2 = '' OR rule = ?2) AND (?3 = '' OR type = ?3) AND (?4 IS NULL OR since * 1000 < ?4)"
    " AND (?5 IS NULL OR seq <= ?5) AND (NOT ?6 OR (state = 'open' AND verdict <> 'waiting')) ORDER BY seq LIMIT ?7";

std::optional<std::string> as_json_array(const std::vector<base::Uuid>& ids) {
  if (ids.empty()) return std::nullopt;
  std::string json = "[";
  for (const auto& id : ids) {
    if (json.size() > 1) json += ',';
    json += '"' + base::to_string(id) + '"';
  }
  return json + ']';
}

std::vector<Settlement> select(Connection& connection, const ports::SettlementFilter& filter) {
  const auto ids = as_json_array(filter.ids);
  auto rows = connection.use(kSelected);
  rows.bind(ids).bind(filter.rule).bind(filter.type).bind(filter.before_unix_micros).bind(filter.up_to_seq);
  rows.bind(std::int64_t{filter.open_only}).bind(static_cast<std::int64_t>(filter.limit));
  std::vector<Settlement> settlements;
  while (rows.step()) settlements.push_back(settlement_in(rows));
  return settlements;
}

std::string lane_name(ports::Lane lane) { return lane == ports::Lane::kAll ? "all" : "backlog"; }

ports::Pause load_pause(Connection& connection) {
  ports::Pause pause;
  auto lanes = connection.use("SELECT lane, reason, who, since FROM spillway_control WHERE paused ORDER BY lane DESC");
  // A pause of everything comes last here and so has the last word.
  while (lanes.step()) {
    (lanes.text(0) == "all" ? pause.all : pause.backlog) = true;
    pause.reason = lanes.text(1);
    pause.who = lanes.text(2);
    pause.since_unix_micros = lanes.integer(3) * 1000;
  }
  return pause;
}

std::optional<ports::Override> load_override(Connection& connection) {
  auto row = connection.use("SELECT max_total, reason, who, since, until FROM spillway_override WHERE until > ?");
  const std::int64_t now = now_millis(connection);
  if (!row.bind(now).step()) return std::nullopt;
  return ports::Override{.max_total = row.null(0) ? std::nullopt : std::optional(row.real(0)),
                         .reason = std::string(row.text(1)),
                         .who = std::string(row.text(2)),
                         .since_unix_micros = row.integer(3) * 1000,
                         .remaining = std::chrono::milliseconds(row.integer(4) - now)};
}

ports::Controls load_controls(Connection& connection) { return {load_pause(connection), load_override(connection)}; }

void resolve_one(Connection& connection, const Settlement& settlement, Verdict verdict, const std::string& reason,
                 const std::string& who, std::int64_t now) {
  const auto state = verdict == Verdict::kPublish ? model::SettlementState::kReleased : model::SettlementState::kDone;
  auto update = connection.use(
      "UPDATE spillway_settled SET verdict = ?, state = ?, reason = ?, who = ?, since = ? WHERE seq = ?");
  update.bind(to_string(verdict)).bind(state_name(state)).bind(reason).bind(who).bind(now).bind(settlement.seq).run();
}

// Rows of the key that nothing open stands before any more.
void release_stopped(Connection& connection, const std::string& key) {
  auto release = connection.use(
      "UPDATE spillway_settled SET state = 'released' WHERE key = ?1 AND state = 'open' AND verdict = 'stopped'"
      " AND NOT EXISTS (SELECT 1 FROM spillway_settled AS before WHERE before.key = ?1 AND before.state = 'open'"
      " AND before.verdict = 'set_aside' AND before.seq < spillway_settled.seq)");
  release.bind(key).run();
}

std::optional<double> oldest_open_age(Connection& connection) {
  auto oldest = connection.use("SELECT min(since) FROM spillway_settled WHERE state = 'open' AND verdict <> 'waiting'");
  oldest.step();
  if (oldest.null(0)) return std::nullopt;
  return std::max(0.0, static_cast<double>(now_millis(connection) - oldest.integer(0)) / 1000.0);
}

std::int64_t open_count(Connection& connection) {
  auto count = connection.use("SELECT count(*) FROM spillway_settled WHERE state = 'open' AND verdict <> 'waiting'");
  count.step();
  return count.integer(0);
}

std::int64_t count_behind_their_key(Connection& connection) {
  auto count = connection.use("SELECT count(*) FROM spillway_settled WHERE state <> 'done' AND verdict = 'waiting'");
  count.step();
  return count.integer(0);
}

ports::Figures load_figures(Connection& connection, const std::string& name) {
  ports::Figures figures;
  const Waiting waiting = waiting_behind(connection, load_progress(connection, name));
  figures.waiting_rows = waiting.rows;
  figures.estimated = waiting.estimated;
  figures.waiting_bytes = waiting.bytes;
  figures.oldest_age_s = waiting.oldest_age_s;
  figures.open_settlements = open_count(connection);
  figures.oldest_open_age_s = oldest_open_age(connection);
  figures.behind_their_key = count_behind_their_key(connection);
  figures.lease = lease_state(connection, name);
  if (const auto saved = saved_at_millis(connection, name)) {
    figures.progress_age_s = std::max(0.0, static_cast<double>(now_millis(connection) - *saved) / 1000.0);
  }
  figures.published = counter_value(connection, kPublishedCounter);
  figures.discarded = counter_value(connection, kDiscardedCounter);
  figures.reconciled = counter_value(connection, kReconciledCounter);
  figures.seq_headroom =
      1.0 - static_cast<double>(newest_seq(connection)) / static_cast<double>(std::numeric_limits<std::int64_t>::max());
  figures.pause = load_pause(connection);
  figures.limit = load_override(connection);
  return figures;
}

}  // namespace

base::Result<ports::Figures> OperatorSession::figures() {
  return session_.answer([&](Connection& connection) {
    const Transaction snapshot(connection, Transaction::Kind::kRead);
    return load_figures(connection, session_.name());
  });
}

base::Status OperatorSession::set_pause(ports::Lane lane, bool paused, const std::string& reason,
                                        const std::string& who) {
  return session_.write([&](Connection& connection) {
    auto upsert = connection.use(
        "INSERT INTO spillway_control (lane, paused, reason, who, since) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (lane) DO UPDATE SET reason = excluded.reason, who = excluded.who,"
        " since = iif(paused = excluded.paused, since, excluded.since), paused = excluded.paused");
    const std::string name = lane_name(lane);
    const std::string before = controls_json(connection);
    upsert.bind(name).bind(std::int64_t{paused}).bind(reason).bind(who).bind(now_millis(connection)).run();
    record_audit(connection, {.who = who,
                              .what = (paused ? "pause " : "resume ") + name,
                              .before = before,
                              .after = controls_json(connection),
                              .reason = reason});
  });
}

base::Status OperatorSession::pause(ports::Lane lane, const std::string& reason, const std::string& who) {
  return set_pause(lane, true, reason, who);
}

base::Status OperatorSession::resume(ports::Lane lane, const std::string& reason, const std::string& who) {
  return set_pause(lane, false, reason, who);
}

base::Status OperatorSession::set_override(const ports::OverrideRequest& request) {
  if (auto fit = ports::check(request); !fit) return fit;
  return session_.write([&](Connection& connection) {
    auto upsert = connection.use(
        "INSERT OR REPLACE INTO spillway_override (one, max_total, reason, who, since, until)"
        " VALUES (1, ?, ?, ?, ?, ?)");
    std::optional<std::string> max;  // the column makes a number of it
    if (request.max_total) max = fmt::format("{}", *request.max_total);
    const std::string before = controls_json(connection);
    const std::int64_t now = now_millis(connection);
    upsert.bind(max).bind(request.reason).bind(request.who).bind(now).bind(now + request.lasts.count()).run();
    record_audit(connection, {.who = request.who,
                              .what = "set override",
                              .before = before,
                              .after = controls_json(connection),
                              .reason = request.reason});
  });
}

base::Status OperatorSession::clear_override(const std::string& reason, const std::string& who) {
  return session_.write([&](Connection& connection) {
    if (!load_override(connection)) return;
    const std::string before = controls_json(connection);
    connection.use("DELETE FROM spillway_override").run();
    record_audit(
        connection,
        {.who = who, .what = "clear override", .before = before, .after = controls_json(connection), .reason = reason});
  });
}

base::Result<ports::Controls> OperatorSession::controls() { return session_.answer(load_controls); }

base::Result<std::vector<Settlement>> OperatorSession::settlements(const ports::SettlementFilter& filter) {
  return session_.answer([&](Connection& connection) { return select(connection, filter); });
}

base::Result<model::Page> OperatorSession::settled_row(const base::Uuid& id) {
  return session_.answer([&](Connection& connection) {
    model::Page page;
    page.db_now_micros = now_millis(connection) * 1000;
    auto row = connection.use("SELECT " SPILLWAY_SQLITE_ROW_COLUMNS
                              " FROM spillway_outbox WHERE seq = (SELECT seq FROM spillway_settled WHERE id = ?)");
    const std::string text = base::to_string(id);
    if (row.bind(text).step()) append_row(row, connection.path(), page);
    return page;
  });
}

base::Result<std::optional<ports::Whereabouts>> OperatorSession::whereabouts(const base::Uuid& id) {
  return session_.answer([&](Connection& connection) -> std::optional<ports::Whereabouts> {
    const Transaction snapshot(connection, Transaction::Kind::kRead);
    ports::Whereabouts found;
    found.page.db_now_micros = now_millis(connection) * 1000;
    auto row = connection.use("SELECT " SPILLWAY_SQLITE_ROW_COLUMNS " FROM spillway_outbox WHERE id = ?");
    const std::string text = base::to_string(id);
    if (!row.bind(text).step()) return std::nullopt;
    append_row(row, connection.path(), found.page);
    found.waiting = waits_behind(load_progress(connection, session_.name()), found.page.rows.front().seq);
    return found;
  });
}

base::Result<std::int64_t> OperatorSession::resolve(const ports::SettlementFilter& filter, Verdict verdict,
                                                    const std::string& reason, const std::string& who) {
  if (verdict != Verdict::kPublish && verdict != Verdict::kDiscard) {
    return base::fail(base::ErrorClass::kRejected, "a person can publish or discard an event, nothing else");
  }
  return session_.write([&](Connection& connection) {
    ports::SettlementFilter open = filter;
    open.open_only = true;
    const auto chosen = select(connection, open);
    const std::int64_t now = now_millis(connection);
    for (const auto& settlement : chosen) {
      resolve_one(connection, settlement, verdict, reason, who, now);
    }
    for (const auto& settlement : chosen) {
      if (settlement.key) release_stopped(connection, *settlement.key);
    }
    const auto changed = static_cast<std::int64_t>(chosen.size());
    if (!chosen.empty()) {
      record_audit(connection,
                   {.who = who,
                    .what = "resolve",
                    .after = fmt::format(R"({{"verdict":"{}","rows":{},"first_seq":{},"last_seq":{}}})",
                                         to_string(verdict), changed, chosen.front().seq, chosen.back().seq),
                    .reason = reason});
    }
    if (verdict == Verdict::kDiscard) add_to_counter(connection, kDiscardedCounter, changed);
    return changed;
  });
}

}  // namespace spillway::sqlite
