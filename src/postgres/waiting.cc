#include "postgres/waiting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "postgres/snapshot.h"

namespace spillway::postgres {
namespace {

constexpr std::int64_t kCounted = 10'000;

const std::string& or_nothing(const std::string& snapshot) {
  static const std::string kNothing = kSeesNothing;
  return snapshot.empty() ? kNothing : snapshot;
}

class Counter {
 public:
  Counter(Connection& connection, const TableLayout& layout)
      : connection_(connection),
        table_(layout.qualified()),
        seq_(identifier(layout.seq)),
        tx_(identifier(layout.tx)),
        created_at_(layout.created_at.empty() ? "null::timestamptz" : identifier(layout.created_at)),
        size_(fmt::format("coalesce(octet_length({}::text), 0) + 64", identifier(layout.payload))) {}

  // Rows that `from` does not see, all the visible ones where `to` is empty.
  base::Status add_by_tx(const std::string& from, const std::string& to, Waiting& waiting) {
    const auto since = parse_snapshot(from);
    if (!since) return {};
    std::string rows = fmt::format("(select * from {} where {} >= '{}'::xid8 order by {}, {} limit {})", table_, tx_,
                                   since->xmax, tx_, seq_, kCounted + 1);
    if (!since->running.empty()) {
      rows += fmt::format(
          " union all (select o.* from unnest('{{{0}}}'::xid8[]) as late(xid) cross join lateral "
          "(select * from {1} where {2} >= late.xid and {2} <= late.xid order by {2}, {3} limit {4}) o)",
          fmt::join(since->running, ","), table_, tx_, seq_, kCounted + 1);
    }
    const std::string condition =
        to.empty() ? std::string("true") : fmt::format("pg_visible_in_snapshot({}, {}::pg_snapshot)", tx_, literal(to));
    return add(rows, condition, from, to, {}, waiting);
  }

  // The rest of a closed frame, of which all up to `after` is finished.
  base::Status add_by_seq(const model::Frame& frame, std::int64_t after, Waiting& waiting) {
    const std::string rows =
        fmt::format("(select * from {} where {} > {} order by {} limit {})", table_, seq_, after, seq_, kCounted + 1);
    const std::string condition = fmt::format(
        "pg_visible_in_snapshot({0}, {1}::pg_snapshot) and not pg_visible_in_snapshot({0}, {2}::pg_snapshot)", tx_,
        literal(frame.to), literal(or_nothing(frame.from)));
    return add(rows, condition, frame.from, frame.to, after, waiting);
  }

 private:
  base::Status add(const std::string& rows, const std::string& condition, const std::string& from,
                   const std::string& to, std::optional<std::int64_t> after, Waiting& waiting) {
    const auto since = parse_snapshot(from);
    const auto until = parse_snapshot(to);
    if (!since || !until) return {};
    const std::string before = to.empty() ? "" : fmt::format("where {} < '{}'::xid8 ", tx_, until->xmax);
    const std::string first = after ? std::to_string(*after)
                                    : fmt::format("(select {} from {} where {} >= '{}'::xid8 order by {}, {} limit 1)",
                                                  seq_, table_, tx_, since->xmax, tx_, seq_);
    const auto answer = connection_.ask(fmt::format(
        "select count(*), count(*) filter (where waits), "
        // Times that a record would not carry either say nothing about how long a row has waited (model::record_time).
        "greatest(0, extract(epoch from clock_timestamp() - min({}) filter (where waits and {} between "
        "timestamptz 'epoch' and clock_timestamp() + interval '1 minute')))::float8, "
        "avg({}) filter (where waits)::float8, {}, (select {} from {} {}order by {} desc, {} desc limit 1) "
        "from (select *, {} as waits from ({}) o) o",
        created_at_, created_at_, size_, first, seq_, table_, before, tx_, seq_, condition, rows));
    if (!answer) return std::unexpected(answer.error());
    std::int64_t count = answer->number(0, 1);
    if (answer->number(0, 0) > kCounted) {
      waiting.estimated = true;
      count = std::max(count, answer->number(0, 5) - answer->number(0, 4));
    }
    waiting.rows += count;
    waiting.bytes += static_cast<std::int64_t>(answer->real(0, 3) * static_cast<double>(count));
    if (const auto age = answer->maybe_real(0, 2); age && answer->number(0, 1) > 0) {
      waiting.oldest_age_s = std::max(waiting.oldest_age_s.value_or(0), *age);
    }
    return {};
  }

  Connection& connection_;
  std::string table_, seq_, tx_, created_at_, size_;
};

}  // namespace

// In compatibility mode: what is not marked yet.
base::Result<Waiting> count_pending(Connection& connection, const std::string& outbox, const TableLayout& layout) {
  const std::string seq = "o." + identifier(layout.seq);
  const std::string created_at =
      layout.created_at.empty() ? "null::timestamptz" : "o." + identifier(layout.created_at) + "::timestamptz";
  const auto answer = connection.ask(
      fmt::format(
          "select count(*), greatest(0, extract(epoch from clock_timestamp() - min({0}) filter "
          "(where isfinite({0}))))::float8, avg(coalesce(octet_length(o.{1}::text), 0) + 64)::float8, min({2}), "
          "(select max({2}) from {3} o) from (select o.* from {3} o where {4} and not exists "
          "(select from spillway.settled s where s.outbox = $1 and s.seq = {2}) order by {2} limit {5}) o",
          created_at, identifier(layout.payload), seq, layout.qualified(), layout.pending_sql(), kCounted + 1),
      std::array<Value, 1>{outbox});
  if (!answer) return std::unexpected(answer.error());
  Waiting waiting;
  waiting.rows = answer->number(0, 0);
  waiting.estimated = waiting.rows > kCounted;
  if (waiting.estimated) waiting.rows = std::max(waiting.rows, answer->number(0, 4) - answer->number(0, 3) + 1);
  if (waiting.rows > 0) waiting.oldest_age_s = answer->maybe_real(0, 1);
  waiting.bytes = static_cast<std::int64_t>(answer->maybe_real(0, 2).value_or(0) * static_cast<double>(waiting.rows));
  return waiting;
}

base::Result<Waiting> count_waiting(Connection& connection, const TableLayout& layout,
                                    const ports::Progress& progress) {
  Waiting waiting;
  Counter counter(connection, layout);
  const auto add_closed = [&](const model::Position& position) {
    return position.last_seq ? counter.add_by_seq(position.frame, *position.last_seq, waiting)
                             : counter.add_by_tx(position.frame.from, position.frame.to, waiting);
  };
  for (const ports::Interval& interval : progress.backlog) {
    if (auto status = add_closed(interval.at); !status) return std::unexpected(status.error());
  }
  std::string open_from = progress.live.frame.from;
  if (!progress.live.frame.to.empty()) {
    if (auto status = add_closed(progress.live); !status) return std::unexpected(status.error());
    open_from = progress.live.frame.to;
  }
  if (auto status = counter.add_by_tx(open_from, "", waiting); !status) return std::unexpected(status.error());
  return waiting;
}

std::string waiting_sql(const TableLayout& layout, const ports::Progress& progress) {
  if (layout.marks_rows()) return layout.pending_sql();
  const auto visible = [&](const std::string& snapshot) {
    return fmt::format("pg_visible_in_snapshot(o.{}, {}::pg_snapshot)", identifier(layout.tx),
                       literal(snapshot.empty() ? kSeesNothing : snapshot));
  };
  const auto rest_of = [&](const model::Position& position) {
    std::string sql = "not " + visible(position.frame.from);
    if (!position.frame.to.empty()) sql += " and " + visible(position.frame.to);
    if (position.last_seq) sql += fmt::format(" and o.{} > {}", identifier(layout.seq), *position.last_seq);
    return sql;
  };
  std::string sql = rest_of(progress.live);
  if (!progress.live.frame.to.empty()) sql += " or not " + visible(progress.live.frame.to);
  for (const ports::Interval& interval : progress.backlog) sql += " or " + rest_of(interval.at);
  return '(' + sql + ')';
}

}  // namespace spillway::postgres
