#include "postgres/page_fetch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "postgres/copy_rows.h"
#include "postgres/fence.h"

namespace spillway::postgres {

using base::ErrorClass;

PageFetch::PageFetch(ConnectOptions connect, std::string outbox, TableLayout layout)
    : connection_(std::move(connect)),
      outbox_(std::move(outbox)),
      layout_(std::move(layout)),
      table_(layout_.qualified()) {}

bool PageFetch::expect(const std::string& incarnation) {
  return std::exchange(incarnation_, incarnation) != incarnation;
}

base::Result<model::Page> PageFetch::again(std::span<const std::int64_t> seqs, ports::ReadLimits limits) {
  const std::size_t rows = std::min(seqs.size(), row_limit(limits));
  const std::string select =
      fmt::format("select @columns@ from {} o where o.{} = any ('{{{}}}'::bigint[]) order by o.{}", table_,
                  identifier(layout_.seq), fmt::join(seqs.first(rows), ","), identifier(layout_.seq));
  auto fetched = fetch("", select, limits.bytes);
  if (!fetched) return std::unexpected(fetched.error());
  model::Page page = std::move(fetched->page);
  page.more = rows < seqs.size() || fetched->seen > page.rows.size();
  return page;
}

base::Result<PageFetch::Fetched> PageFetch::fetch(const std::string& more_facts, const std::string& select,
                                                  std::size_t byte_limit) {
  // The lock comes before the snapshot: to a snapshot taken before ALTER TABLE rewrote it the table would be empty.
  const std::string head = fmt::format(
      "begin isolation level repeatable read read only; set local lock_timeout = 4000; set local jit = off; "
      "set local enable_seqscan = off; set local enable_bitmapscan = off; "
      "set local max_parallel_workers_per_gather = 0; lock table {} in access share mode; "
      "select {}, pg_current_snapshot(), (extract(epoch from clock_timestamp()) * 1000000)::bigint, "
      "(select format_type(atttypid, null) from pg_attribute where attrelid = {}::regclass and attname = {}), "
      "{}{}; ",
      table_, kIncarnationSql, literal(table_), literal(layout_.payload), kReadOnlySql, more_facts);
  // Twice only where the payload's type is not what it was.
  for (;;) {
    model::Page page;
    CopyRows rows(page, byte_limit);
    std::string sql = head;
    if (!select.empty()) {
      std::string query = select;
      const std::string columns = copy_columns(layout_, payload_type_ == "jsonb");
      for (std::size_t at = 0; (at = query.find("@columns@")) != std::string::npos;) query.replace(at, 9, columns);
      sql += "copy (" + query + ") to stdout (format binary); ";
    }
    auto answers = connection_.script(sql + "commit", [&](std::string_view message) { return rows.take(message); });
    if (!answers) return std::unexpected(answers.error());
    if (rows.malformed() || answers->empty()) {
      connection_.close();
      return base::fail(ErrorClass::kFatal, fmt::format("the rows of {} came in an unexpected format", layout_.name()));
    }
    Fetched fetched{std::move(page), std::move(answers->front()), rows.seen(), rows.full()};
    if (fetched.facts.flag(0, kReadOnly)) {
      connection_.close();
      return base::fail(ErrorClass::kUnavailable, kNoWrites);
    }
    if (fetched.facts.text(0, kIncarnation) != incarnation_) {
      return base::fail(ErrorClass::kLostPlace, "PostgreSQL went through a crash recovery or a promotion");
    }
    fetched.page.db_now_micros = fetched.facts.number(0, kNow);
    const std::string type(fetched.facts.text(0, kPayloadType));
    const bool asked_wrongly = !select.empty() && (payload_type_ == "jsonb") != (type == "jsonb");
    payload_type_ = type;
    if (asked_wrongly) continue;
    learn(fetched);
    return fetched;
  }
}

// Costs nothing while the ledger holds no row of the range; then one look-up a row, whatever the statistics say.
std::string PageFetch::not_settled(const std::string& alias, const std::string& range) const {
  const std::string seq = identifier(layout_.seq);
  const std::string outbox = literal(outbox_);
  return fmt::format(
      " and ((select not exists (select from spillway.settled where outbox = {}{}{})) or "
      "(select 1 from spillway.settled s where s.outbox = {} and s.seq = {}.{}) is null)",
      outbox, range.empty() ? "" : " and ", range, outbox, alias, seq);
}

// Little more than what fits in the byte limit, going by the rows seen lately.
std::size_t PageFetch::row_limit(ports::ReadLimits limits) const {
  const double fit = 1.2 * static_cast<double>(limits.bytes) / std::max(16.0, average_row_) + 8;
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::min(fit, 1e9)), 1, limits.rows);
}

void PageFetch::learn(const Fetched& fetched) {
  if (fetched.page.rows.empty()) return;
  std::size_t bytes = 0;
  for (const model::Row& row : fetched.page.rows) bytes += row.bytes();
  average_row_ = 0.5 * average_row_ + 0.5 * static_cast<double>(bytes) / static_cast<double>(fetched.page.rows.size());
}

}  // namespace spillway::postgres
