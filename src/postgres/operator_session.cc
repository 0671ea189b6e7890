#include "postgres/operator_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "postgres/fence.h"
#include "postgres/lease_session.h"
#include "postgres/progress_columns.h"
#include "postgres/settlement_columns.h"

namespace spillway::postgres {
namespace {

using base::ErrorClass;

// The filter as a condition on spillway.settled, with $1 to $7.
constexpr char kFilter[] =
    "outbox = $1 and ($2::uuid[] is null or id = any ($2::uuid[])) and ($3::text is null or rule = $3) "
    "and ($4::text is null or type = $4) "
    "and ($5::bigint is null or since < to_timestamp(0) + $5::bigint * interval '1 microsecond') "
    "and ($6::bigint is null or seq <= $6::bigint) and (not $7::boolean or (state = 'open' and verdict <> 'waiting'))";

std::vector<Value> filter_values(const std::string& outbox, const ports::SettlementFilter& filter, bool open_only) {
  const auto text = [](const std::string& value) { return value.empty() ? Value() : Value(value); };
  const auto number = [](std::optional<std::int64_t> value) { return value ? Value(std::to_string(*value)) : Value(); };
  Value ids;
  if (!filter.ids.empty()) {
    std::vector<std::string> texts;
    for (const base::Uuid& id : filter.ids) texts.push_back(base::to_string(id));
    ids = fmt::format("{{{}}}", fmt::join(texts, ","));
  }
  return {outbox,
          ids,
          text(filter.rule),
          text(filter.type),
          number(filter.before_unix_micros),
          number(filter.up_to_seq),
          open_only ? "true" : "false",
          std::to_string(filter.limit)};
}

}  // namespace

OperatorSession::OperatorSession(ConnectOptions connect, std::string outbox, TableLayout layout)
    : connection_(connect), reader_(connect, outbox, layout), outbox_(std::move(outbox)), layout_(std::move(layout)) {}

base::Result<ports::Figures> OperatorSession::figures() {
  const std::string seq = identifier(layout_.seq);
  const auto answer = connection_.ask(
      fmt::format(
          "select coalesce(p.live_from, ''), coalesce(p.live_to, ''), p.live_last, coalesce(p.backlog, '[]'), "
          "coalesce(p.read_up_to, 0), p.capacity, extract(epoch from clock_timestamp() - p.saved_at)::float8, "
          "coalesce(p.published, 0), "
          "coalesce(p.discarded, 0), coalesce(p.reconciled, 0), "
          "l.epoch, l.holder, l.holder_name, "
          "floor(extract(epoch from l.expires_at - clock_timestamp()) * 1000)::bigint, "
          "(select count(*) from (select from spillway.settled where outbox = $1 and state <> 'done' and state = "
          "'open' and verdict <> 'waiting' limit 10000) open), "
          "(select extract(epoch from clock_timestamp() - min(since))::float8 from (select since from spillway.settled "
          "where outbox = $1 and state <> 'done' and state = 'open' and verdict <> 'waiting' "
          "order by seq limit 10000) open), "
          "1 - coalesce((select max({0}) from {1}), 0)::float8 / (select case atttypid when 'int4'::regtype then "
          "2147483647::float8 when 'int2'::regtype then 32767::float8 else 9223372036854775807::float8 end "
          "from pg_attribute where attrelid = {2}::regclass and attname = {3}), "
          "coalesce((select seqcache from pg_sequence where seqrelid = pg_get_serial_sequence({2}, {3})::regclass), "
          "1), "
          "(select count(*) from (select from spillway.settled where outbox = $1 and state <> 'done' and verdict = "
          "'waiting' limit 10000) behind) "
          "from (values (1)) one left join spillway.progress p on p.outbox = $1 "
          "left join spillway.lease l on l.outbox = $1",
          seq, layout_.qualified(), literal(layout_.qualified()), literal(layout_.seq)),
      std::array<Value, 1>{outbox_});
  if (!answer) return std::unexpected(answer.error());
  const auto progress = progress_from(*answer, 0, 0);
  if (!progress) return std::unexpected(progress.error());
  ports::Figures figures;
  figures.progress_age_s = answer->maybe_real(0, 6);
  figures.published = answer->number(0, 7);
  figures.discarded = answer->number(0, 8);
  figures.reconciled = answer->number(0, 9);
  if (!answer->is_null(0, 11)) figures.lease = lease_state_from(*answer, 0, 10);
  figures.open_settlements = answer->number(0, 14);
  figures.oldest_open_age_s = answer->maybe_real(0, 15);
  figures.seq_headroom = answer->maybe_real(0, 16);
  if (!layout_.marks_rows()) figures.seq_cache = answer->number(0, 17);
  figures.behind_their_key = answer->number(0, 18);
  const auto waiting = layout_.marks_rows() ? count_pending(connection_, outbox_, layout_)
                                            : count_waiting(connection_, layout_, *progress);
  if (!waiting) return std::unexpected(waiting.error());
  figures.waiting_rows = waiting->rows;
  figures.estimated = waiting->estimated;
  figures.oldest_age_s = waiting->oldest_age_s;
  figures.waiting_bytes = waiting->bytes;
  auto asked = controls();
  if (!asked) return std::unexpected(asked.error());
  figures.pause = std::move(asked->pause);
  figures.limit = std::move(asked->limit);
  return figures;
}

base::Status OperatorSession::pause(ports::Lane lane, const std::string& reason, const std::string& who) {
  return set_pause(lane, true, reason, who);
}

base::Status OperatorSession::resume(ports::Lane lane, const std::string& reason, const std::string& who) {
  return set_pause(lane, false, reason, who);
}

// The reason shown is that of the last change, unless a lane was resumed while the other stays paused.
base::Status OperatorSession::set_pause(ports::Lane lane, bool paused, const std::string& reason,
                                        const std::string& who) {
  const bool all = lane == ports::Lane::kAll;
  const std::array<Value, 5> values{outbox_, paused ? "true" : "false", reason, who,
                                    fmt::format("{} {}", paused ? "pause" : "resume", all ? "all" : "backlog")};
  const auto answer = connection_.ask(
      fmt::format(
          "with old as (select * from spillway.control where outbox = $1), "
          "new as (insert into spillway.control as c (outbox, {0}, reason, who) "
          "values ($1, $2::boolean, $3, $4) on conflict (outbox) do update set {0} = excluded.{0}, "
          "(reason, who, since) = (select case when $2::boolean or not c.{1} then excluded.reason else c.reason end, "
          "case when $2::boolean or not c.{1} then excluded.who else c.who end, "
          "case when $2::boolean or not c.{1} then excluded.since else c.since end) returning *) "
          "insert into spillway.audit (outbox, who, what, before, after, reason) "
          "select $1, $4, $5, (select to_jsonb(old) from old), to_jsonb(new), $3 from new",
          all ? "paused_all" : "paused_backlog", all ? "paused_backlog" : "paused_all"),
      values);
  if (!answer) return std::unexpected(answer.error());
  return {};
}

base::Status OperatorSession::set_override(const ports::OverrideRequest& request) {
  if (auto fit = ports::check(request); !fit) return fit;
  const std::array<Value, 5> values{outbox_, request.max_total ? Value(fmt::format("{}", *request.max_total)) : Value(),
                                    request.reason, request.who, std::to_string(request.lasts.count())};
  const auto answer = connection_.ask(
      "with old as (select * from spillway.control where outbox = $1), "
      "new as (insert into spillway.control (outbox, limit_max, limit_reason, limit_who, limit_since, limit_until) "
      "select $1, $2::double precision, $3, $4, now, now + $5::bigint * interval '1 millisecond' "
      "from clock_timestamp() now on conflict (outbox) do update set "
      "(limit_max, limit_reason, limit_who, limit_since, limit_until) = (excluded.limit_max, excluded.limit_reason, "
      "excluded.limit_who, excluded.limit_since, excluded.limit_until) returning *) "
      "insert into spillway.audit (outbox, who, what, before, after, reason) "
      "select $1, $4, 'set override', (select to_jsonb(old) from old), to_jsonb(new), $3 from new",
      values);
  if (!answer) return std::unexpected(answer.error());
  return {};
}

base::Status OperatorSession::clear_override(const std::string& reason, const std::string& who) {
  const auto answer = connection_.ask(
      "with old as (select * from spillway.control where outbox = $1), "
      "new as (update spillway.control set (limit_max, limit_reason, limit_who, limit_since, limit_until) = "
      "(null, null, null, null, null) where outbox = $1 and limit_until > clock_timestamp() returning *) "
      "insert into spillway.audit (outbox, who, what, before, after, reason) "
      "select $1, $3, 'clear override', (select to_jsonb(old) from old), to_jsonb(new), $2 from new",
      std::array<Value, 3>{outbox_, reason, who});
  if (!answer) return std::unexpected(answer.error());
  return {};
}

base::Result<ports::Controls> OperatorSession::controls() {
  const auto answer =
      connection_.ask(fmt::format("select {}, c.outbox is not null, paused_all, paused_backlog, reason, who, "
                                  "(extract(epoch from since) * 1000000)::bigint, "
                                  "limit_max, limit_reason, limit_who, "
                                  "(extract(epoch from limit_since) * 1000000)::bigint, "
                                  "ceil(extract(epoch from limit_until - clock_timestamp()) * 1000)::bigint "
                                  "from (values (1)) one left join spillway.control c on c.outbox = $1",
                                  kReadOnlySql),
                      std::array<Value, 1>{outbox_});
  if (!answer) return std::unexpected(answer.error());
  // What a former primary says is old news; the next question looks for the server that takes writes.
  if (answer->flag(0, 0)) connection_.close();
  if (!answer->flag(0, 1)) return ports::Controls{};
  ports::Controls controls{.pause = {answer->flag(0, 2), answer->flag(0, 3), std::string(answer->text(0, 4)),
                                     std::string(answer->text(0, 5)), answer->number(0, 6)}};
  const std::int64_t remaining_ms = answer->maybe_number(0, 11).value_or(0);
  if (remaining_ms <= 0) return controls;
  controls.limit = {answer->maybe_real(0, 7), std::string(answer->text(0, 8)), std::string(answer->text(0, 9)),
                    answer->number(0, 10), std::chrono::milliseconds(remaining_ms)};
  return controls;
}

base::Result<std::vector<model::Settlement>> OperatorSession::settlements(const ports::SettlementFilter& filter) {
  const auto answer =
      connection_.ask(fmt::format("select {} from spillway.settled where {} order by seq limit $8::bigint",
                                  kSettlementColumns, kFilter),
                      filter_values(outbox_, filter, filter.open_only));
  if (!answer) return std::unexpected(answer.error());
  std::vector<model::Settlement> settlements;
  for (int row = 0; row < answer->rows(); ++row) settlements.push_back(settlement_from(*answer, row));
  return settlements;
}

base::Result<model::Page> OperatorSession::settled_row(const base::Uuid& id) {
  const auto answer = connection_.ask(
      fmt::format(
          "select {}, (select seq from spillway.settled where outbox = $1 and id = $2::uuid order by seq limit 1)",
          kIncarnationSql),
      std::array<Value, 2>{outbox_, base::to_string(id)});
  if (!answer) return std::unexpected(answer.error());
  const auto seq = answer->maybe_number(0, 1);
  if (!seq) return model::Page{};
  const std::array<std::int64_t, 1> seqs{*seq};
  return reader_.read_again(seqs, std::string(answer->text(0, 0)), {1, 1});
}

base::Result<std::optional<ports::Whereabouts>> OperatorSession::whereabouts(const base::Uuid& id) {
  const auto saved =
      connection_.ask(fmt::format("select {}, coalesce(p.live_from, ''), coalesce(p.live_to, ''), p.live_last, "
                                  "coalesce(p.backlog, '[]'), coalesce(p.read_up_to, 0), p.capacity "
                                  "from (values (1)) one left join spillway.progress p on p.outbox = $1",
                                  kIncarnationSql),
                      std::array<Value, 1>{outbox_});
  if (!saved) return std::unexpected(saved.error());
  const auto progress = progress_from(*saved, 0, 1);
  if (!progress) return std::unexpected(progress.error());
  if (layout_.id.empty()) return std::nullopt;
  // The column of an adopted table may be of any type.
  const auto row =
      connection_.ask(fmt::format("select o.{}::bigint, {} from {} o where o.{}{}", identifier(layout_.seq),
                                  waiting_sql(layout_, *progress), layout_.qualified(), identifier(layout_.id),
                                  layout_.adopted ? "::text = $1" : " = $1::uuid"),
                      std::array<Value, 1>{base::to_string(id)});
  if (!row) return std::unexpected(row.error());
  if (row->rows() == 0) return std::nullopt;
  const std::array<std::int64_t, 1> seqs{row->number(0, 0)};
  auto page = reader_.read_again(seqs, std::string(saved->text(0, 0)), {1, 1});
  if (!page) return std::unexpected(page.error());
  if (page->rows.empty()) return std::nullopt;
  return ports::Whereabouts{std::move(*page), row->flag(0, 1)};
}

base::Result<std::int64_t> OperatorSession::resolve(const ports::SettlementFilter& filter, model::Verdict verdict,
                                                    const std::string& reason, const std::string& who) {
  if (verdict != model::Verdict::kPublish && verdict != model::Verdict::kDiscard) {
    return base::fail(ErrorClass::kRejected, "a settlement is resolved by publishing or by discarding it");
  }
  const bool publish = verdict == model::Verdict::kPublish;
  std::vector<Value> values = filter_values(outbox_, filter, true);
  values.insert(values.end(), {to_string(verdict), publish ? "released" : "done", reason, who});
  const auto answer = connection_.ask(
      fmt::format(
          "with picked as (select seq from spillway.settled where {} order by seq limit $8::bigint for update), "
          "changed as (update spillway.settled s set verdict = $9::text, state = $10::text, reason = $11::text, "
          "who = $12::text, changed_at = clock_timestamp() from picked where s.outbox = $1 and s.seq = picked.seq "
          "returning s.seq, s.key), "
          // Rows that were stopped behind these follow, unless something else still stops their key.
          "followed as (update spillway.settled s set verdict = 'publish', state = 'released', "
          "changed_at = clock_timestamp() where s.outbox = $1 and s.state <> 'done' and s.state = 'open' "
          "and s.verdict = 'stopped' and s.key in (select key from changed) and s.seq not in (select seq from changed) "
          "and not exists (select from spillway.settled x where x.outbox = $1 and x.key = s.key and x.state <> 'done' "
          "and x.state = 'open' and x.verdict <> 'stopped' and x.seq not in (select seq from changed))), "
          "counted as (update spillway.progress set discarded = discarded + (select count(*) from changed) "
          "where outbox = $1 and $10::text = 'done') "
          "insert into spillway.audit (outbox, who, what, after, reason) select $1, $12::text, 'resolve', "
          "jsonb_build_object('verdict', $9::text, 'rows', count(*), 'first_seq', min(seq), 'last_seq', max(seq)), "
          "$11::text from changed having count(*) > 0 returning (after ->> 'rows')::bigint",
          kFilter),
      values);
  if (!answer) return std::unexpected(answer.error());
  return answer->rows() == 0 ? 0 : answer->number(0, 0);
}

}  // namespace spillway::postgres
