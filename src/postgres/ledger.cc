#include "postgres/ledger.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "postgres/fence.h"
#include "postgres/progress_columns.h"
#include "postgres/settlement_columns.h"

namespace spillway::postgres {
namespace {

using base::ErrorClass;

constexpr std::int64_t kBeforeAll = std::numeric_limits<std::int64_t>::min();
constexpr int kPiecesPerCall = 10;

base::Status done(const base::Result<Answer>& answer) {
  if (!answer) return std::unexpected(answer.error());
  return {};
}

}  // namespace

Ledger::Ledger(ConnectOptions connect, std::string outbox, TableLayout layout)
    : connection_(std::move(connect)),
      outbox_(std::move(outbox)),
      layout_(std::move(layout)),
      cleaned_to_(kBeforeAll) {}

base::Result<ports::Loaded> Ledger::load() {
  const auto answer = connection_.ask(
      fmt::format("select {}, p.outbox is not null, "
                  "p.system_identifier is distinct from (select system_identifier from pg_control_system()), "
                  "p.live_from, p.live_to, p.live_last, p.backlog, p.read_up_to, p.capacity, {}, "
                  "(extract(epoch from clock_timestamp()) * 1000000)::bigint "
                  "from (values (1)) one left join spillway.progress p on p.outbox = $1",
                  kIncarnationSql, kReadOnlySql),
      std::array<Value, 1>{outbox_});
  if (!answer) return std::unexpected(answer.error());
  if (answer->flag(0, 9)) {
    connection_.close();
    return base::fail(ErrorClass::kUnavailable, kNoWrites);
  }
  ports::Loaded loaded;
  loaded.incarnation = answer->text(0, 0);
  loaded.db_now_micros = answer->number(0, 10);
  // What is finished is marked in the table itself.
  if (!answer->flag(0, 1) || layout_.marks_rows()) return loaded;
  if (answer->flag(0, 2)) {
    return base::fail(
        ErrorClass::kMisconfigured,
        fmt::format("the progress of outbox {} was made in another database cluster, whose transaction ids "
                    "mean nothing here: run `spillway init --repair-restored`",
                    outbox_));
  }
  auto progress = progress_from(*answer, 0, 3);
  if (!progress) return std::unexpected(progress.error());
  loaded.progress = std::move(*progress);
  return loaded;
}

base::Status Ledger::save(const ports::Fence& fence, const ports::SaveRequest& request) {
  // One position an hour is kept besides: how long a row has been published is known from nothing else. high_seq tells
  // the rows of this cluster from those that writers add after the table was restored into another.
  FencedWrite save{fmt::format(
      "saved as (insert into spillway.progress as p (outbox, table_name, live_from, live_to, live_last, backlog, "
      "read_up_to, capacity, incarnation, system_identifier, epoch, saved_at, published, high_seq) "
      "select $1, $5, $6::text, $7::text, $8::bigint, $9::jsonb, $10::bigint, $11::float8, $4, "
      "(select system_identifier from pg_control_system()), $2::bigint, clock_timestamp(), $12::bigint, "
      "(select max({}) from {}) from fence where holds "
      "on conflict (outbox) do update set table_name = excluded.table_name, live_from = excluded.live_from, "
      "live_to = excluded.live_to, live_last = excluded.live_last, backlog = excluded.backlog, "
      "read_up_to = excluded.read_up_to, capacity = excluded.capacity, incarnation = excluded.incarnation, "
      "system_identifier = "
      "excluded.system_identifier, epoch = excluded.epoch, "
      "saved_at = excluded.saved_at, published = p.published + excluded.published, "
      "high_seq = greatest(p.high_seq, excluded.high_seq)), "
      "kept as (insert into spillway.saved_positions (outbox, saved_at, live_from, live_to, live_last, backlog) "
      "select $1, clock_timestamp(), $6::text, $7::text, $8::bigint, $9::jsonb from fence where holds and not exists "
      "(select from spillway.saved_positions where outbox = $1 and saved_at > clock_timestamp() - interval '1 hour'))",
      identifier(layout_.seq), layout_.qualified())};
  std::vector<Value> values{layout_.name()};
  for (Value& value : progress_values(request.progress)) values.push_back(std::move(value));
  values.push_back(std::to_string(request.published));
  if (layout_.marks_rows()) {
    // Rows that wait for a person count as finished for the relay, and stay.
    save.writes += fmt::format(
        ", marked as ({})",
        layout_.mark_sql(fmt::format("o.{0} = any ($13::bigint[]) and (select holds from fence) and not exists "
                                     "(select from spillway.settled s where s.outbox = $1 and s.seq = o.{0} "
                                     "and s.state <> 'done')",
                                     identifier(layout_.seq))));
    values.push_back(array_text(request.finished));
  }
  return done(write_fenced(connection_, outbox_, fence, save, std::move(values)));
}

base::Status Ledger::record(const ports::Fence& fence, std::span<const model::Settlement> settlements) {
  static const FencedWrite kRecord{
      "recorded as (insert into spillway.settled as s "
      "(outbox, seq, id, key, topic, type, bytes, verdict, state, rule, reason, who) "
      "select $1, r.* from fence, jsonb_to_recordset($5::jsonb) as r(seq bigint, id uuid, key text, topic text, "
      "type text, bytes bigint, verdict text, state text, rule text, reason text, who text) where fence.holds "
      "on conflict (outbox, seq) do update set id = excluded.id, key = excluded.key, topic = excluded.topic, "
      "type = excluded.type, bytes = excluded.bytes, verdict = excluded.verdict, state = excluded.state, "
      "rule = excluded.rule, reason = excluded.reason, who = excluded.who, changed_at = clock_timestamp() "
      // Only a row that was inserted has no xmax: what is recorded again is not counted again.
      "returning s.verdict, s.xmax = 0 as fresh), "
      "counts as (select count(*) filter (where verdict = 'discard') as discarded, "
      "count(*) filter (where verdict = 'reconcile') as reconciled from recorded where fresh), "
      "counted as (insert into spillway.progress as p (outbox, table_name, system_identifier, discarded, reconciled) "
      "select $1, $6, (select system_identifier from pg_control_system()), discarded, reconciled from counts "
      "where discarded + reconciled > 0 on conflict (outbox) do update set "
      "discarded = p.discarded + excluded.discarded, reconciled = p.reconciled + excluded.reconciled)"};
  if (settlements.empty()) return {};
  return done(write_fenced(connection_, outbox_, fence, kRecord, {settlements_json(settlements), layout_.name()}));
}

base::Status Ledger::finish(const ports::Fence& fence, std::span<const std::int64_t> seqs) {
  FencedWrite finish{
      "finished as (update spillway.settled set changed_at = clock_timestamp(), "
      "state = case verdict when 'reconcile' then 'open' else 'done' end "
      "where outbox = $1 and seq = any ($5::bigint[]) and state = 'released' and (select holds from fence))"};
  if (layout_.marks_rows()) {
    finish.writes += fmt::format(", marked as ({})",
                                 layout_.mark_sql(fmt::format("o.{} = any ($5::bigint[]) and (select holds from fence)",
                                                              identifier(layout_.seq))));
  }
  return done(write_fenced(connection_, outbox_, fence, finish, {array_text(seqs)}));
}

base::Result<std::int64_t> Ledger::clean_up(const ports::Fence& fence, std::chrono::seconds keep, std::size_t rows) {
  if (layout_.marks_rows()) return mark_discarded(fence, keep, rows);
  const auto days = look_at_days(connection_, layout_);
  if (!days) return std::unexpected(days.error());
  const bool by_day = days->partitioned && days->may_drop;
  if (by_day && !more_rows_) {
    const auto dropped = drop_day_of(*days, fence, keep);
    if (!dropped) return std::unexpected(dropped.error());
    if (*dropped) return static_cast<std::int64_t>(rows);
  }
  const bool default_only = by_day && !days->default_partition.empty();
  const auto removed = remove_rows(default_only ? days->default_partition : layout_.qualified(), fence, keep, rows);
  more_rows_ = removed && *removed >= static_cast<std::int64_t>(rows);
  return removed;
}

base::Result<bool> Ledger::drop_day_of(const Days& days, const ports::Fence& fence, std::chrono::seconds keep) {
  const auto dropped = drop_day(connection_, days, outbox_, fence, keep);
  if (dropped) {
    day_stays_.reset();
    return !dropped->empty();
  }
  const ErrorClass why = dropped.error().error_class;
  if (why == ErrorClass::kLostLease || why == ErrorClass::kLostPlace || why == ErrorClass::kUnavailable) {
    return std::unexpected(dropped.error());
  }
  day_stays_ =
      base::Error{ErrorClass::kRejected, fmt::format("a day of {} that is done with could not be dropped and stays: {}",
                                                     layout_.name(), dropped.error().message)};
  return false;
}

base::Status Ledger::look_ahead() {
  if (auto added = add_days(connection_, layout_); !added) return added;
  if (day_stays_) return std::unexpected(*day_stays_);
  return {};
}

base::Result<std::int64_t> Ledger::remove_rows(const std::string& table, const ports::Fence& fence,
                                               std::chrono::seconds keep, std::size_t rows) {
  const FencedWrite clean{
      fmt::format(
          "place as (select * from (select saved_at, live_from, live_to, live_last, backlog from "
          "spillway.saved_positions "
          "where outbox = $1 union all select saved_at, live_from, live_to, live_last, backlog from spillway.progress "
          "where outbox = $1) kept where saved_at <= clock_timestamp() - make_interval(secs => $5::bigint) "
          "order by saved_at desc limit 1), "
          "piece as materialized (select o.{1} as seq, o.{2} as tx from {0} o where o.{1} > $6::bigint "
          "and exists (select from place) order by o.{1} limit $7::bigint), "
          "doomed as materialized (select k.seq from piece k, place where {3} and (select 1 from spillway.settled s "
          "where "
          "s.outbox = $1 and s.seq = k.seq and (s.state <> 'done' or "
          "s.changed_at > clock_timestamp() - make_interval(secs => $5::bigint))) is null), "
          "gone as (delete from {0} o using doomed d where o.{1} = d.seq and (select holds from fence) returning 1), "
          "forgotten as (delete from spillway.saved_positions s using place where s.outbox = $1 "
          "and s.saved_at < place.saved_at and (select holds from fence))",
          table, identifier(layout_.seq), identifier(layout_.tx), finished_sql("k", "place")),
      "(select count(*) from gone), (select count(*) from piece), (select max(seq) from piece)"};
  for (int piece = 0; piece < kPiecesPerCall; ++piece) {
    const auto answer = write_fenced(connection_, outbox_, fence, clean,
                                     {std::to_string(keep.count()), std::to_string(cleaned_to_), std::to_string(rows)});
    if (!answer) return std::unexpected(answer.error());
    const bool at_end = answer->number(0, 1) < static_cast<std::int64_t>(rows);
    cleaned_to_ = at_end ? kBeforeAll : answer->number(0, 2);
    const std::int64_t removed = answer->number(0, 0);
    if (removed > 0 || at_end) return removed;
  }
  return 0;
}

// Published rows were marked when they were acknowledged.
base::Result<std::int64_t> Ledger::mark_discarded(const ports::Fence& fence, std::chrono::seconds keep,
                                                  std::size_t rows) {
  const std::string seq = "o." + identifier(layout_.seq);
  const FencedWrite mark{
      fmt::format("doomed as materialized (select {0} as seq from spillway.settled s join {1} o on {0} = s.seq "
                  "where s.outbox = $1 and s.state = 'done' "
                  "and s.changed_at <= clock_timestamp() - make_interval(secs => $5::bigint) and {2} "
                  "limit $6::bigint), gone as ({3})",
                  seq, layout_.qualified(), layout_.pending_sql(),
                  layout_.mark_sql(seq + " in (select seq from doomed) and (select holds from fence)")),
      "(select count(*) from gone)"};
  const auto answer =
      write_fenced(connection_, outbox_, fence, mark, {std::to_string(keep.count()), std::to_string(rows)});
  if (!answer) return std::unexpected(answer.error());
  return answer->number(0, 0);
}

base::Result<std::vector<model::Settlement>> Ledger::released(std::int64_t after, std::size_t limit) {
  const auto answer = connection_.ask(
      fmt::format("select {} from spillway.settled where outbox = $1 and state <> 'done' and state = 'released' "
                  "and seq > $2::bigint order by seq limit $3::bigint",
                  kSettlementColumns),
      std::array<Value, 3>{outbox_, std::to_string(after), std::to_string(limit)});
  if (!answer) return std::unexpected(answer.error());
  std::vector<model::Settlement> settlements;
  for (int row = 0; row < answer->rows(); ++row) settlements.push_back(settlement_from(*answer, row));
  return settlements;
}

base::Result<std::int64_t> Ledger::release_keys(const ports::Fence& fence, std::span<const std::string> keys) {
  static const FencedWrite kRelease{
      "changed as (update spillway.settled set state = 'released', changed_at = clock_timestamp(), "
      "verdict = case verdict when 'stopped' then 'publish' else verdict end "
      "where outbox = $1 and key = any ($5::text[]) and state <> 'done' and state = 'open' "
      "and verdict in ('stopped', 'waiting') and (select holds from fence) returning 1)",
      "(select count(*) from changed)"};
  const auto answer = write_fenced(connection_, outbox_, fence, kRelease, {array_text(keys)});
  if (!answer) return std::unexpected(answer.error());
  return answer->number(0, 0);
}

base::Result<std::vector<ports::HeldKey>> Ledger::held_keys(ports::Holds holds) {
  const char* rows =
      holds == ports::Holds::kWaiting
          ? "verdict = 'waiting'"
          : "(state = 'released' or verdict in ('stopped', 'set_aside', 'waiting')) and verdict <> 'reconcile'";
  const auto answer = connection_.ask(
      fmt::format("select key, min(seq), min(seq) filter (where state = 'open'), "
                  "bool_or(state = 'open' and verdict = 'set_aside') from spillway.settled "
                  "where outbox = $1 and key is not null and state <> 'done' and {} group by key order by key",
                  rows),
      std::array<Value, 1>{outbox_});
  if (!answer) return std::unexpected(answer.error());
  std::vector<ports::HeldKey> keys;
  for (int row = 0; row < answer->rows(); ++row) {
    keys.push_back({std::string(answer->text(row, 0)), answer->number(row, 1), answer->maybe_number(row, 2),
                    answer->flag(row, 3)});
  }
  return keys;
}

}  // namespace spillway::postgres
