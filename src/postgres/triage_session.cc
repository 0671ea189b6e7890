#include "postgres/triage_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "postgres/failure.h"
#include "postgres/fence.h"
#include "postgres/text_array.h"

namespace spillway::postgres {
namespace {

using base::ErrorClass;
using ports::AskedRow;
using ports::RowField;

constexpr std::size_t kMostRows = 10'000;
constexpr char kTimedOut[] = "57014";
constexpr char kWrites[] = "25006";
// What a query of a user's looks up is taken to lie in memory: a page of rows is then looked up by index, rather than
// by reading all of a table for each page.
constexpr char kByIndexRather[] = "set local random_page_cost = 1.1; ";
constexpr char kByIndexAlone[] =
    "set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_hashjoin = off; "
    "set local enable_mergejoin = off; ";

const char* name_of(RowField field) {
  switch (field) {
    case RowField::kSeq: return "seq";
    case RowField::kId: return "id";
    case RowField::kAggregateType: return "aggregatetype";
    case RowField::kAggregateId: return "aggregateid";
    case RowField::kType: return "type";
    case RowField::kKey: return "key";
  }
  return "";
}

const char* type_of(RowField field) {
  if (field == RowField::kSeq) return "bigint";
  return field == RowField::kId ? "uuid" : "text";
}

std::string array_of(RowField field, std::span<const AskedRow> rows) {
  TextArray array;
  for (const AskedRow& row : rows) {
    switch (field) {
      case RowField::kSeq: array.add(std::to_string(row.seq)); break;
      case RowField::kId: array.add(base::to_string(row.id)); break;
      case RowField::kAggregateType: array.add(row.aggregate_type); break;
      case RowField::kAggregateId: array.add(row.aggregate_id); break;
      case RowField::kType: array.add(row.type); break;
      case RowField::kKey: array.add(row.key); break;
    }
  }
  return std::move(array).take();
}

std::vector<Value> values_of(const std::vector<RowField>& fields, std::span<const AskedRow> rows) {
  std::vector<Value> values;
  for (const RowField field : fields) values.emplace_back(array_of(field, rows));
  return values;
}

// "unnest($1::bigint[], $2::text[]) with ordinality as spillway_row(seq, type, ordinal)"
std::string rows_sql(const std::vector<RowField>& fields) {
  std::string arrays;
  std::string names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    arrays += fmt::format("{}${}::{}[]", i == 0 ? "" : ", ", i + 1, type_of(fields[i]));
    names += fmt::format("\"{}\", ", name_of(fields[i]));
  }
  return fmt::format("unnest({}) with ordinality as spillway_row({}ordinal)", arrays, names);
}

}  // namespace

TriageSession::TriageSession(ConnectOptions connect, std::string outbox, TableLayout layout)
    : limit_ms_(connect.time_limit.count() * 4 / 5),
      connection_(std::move(connect)),
      outbox_(std::move(outbox)),
      layout_(std::move(layout)),
      batch_(kMostRows) {}

TriageSession::Question TriageSession::question_of(const ports::Predicate& predicate) {
  Question question;
  question.fields = {RowField::kSeq};
  question.settings = kByIndexRather;
  std::string query;
  for (const auto& piece : predicate.pieces) {
    query += piece.text;
    if (!piece.field) continue;
    query += fmt::format("spillway_row.\"{}\"", name_of(*piece.field));
    if (std::ranges::find(question.fields, *piece.field) == question.fields.end()) {
      question.fields.push_back(*piece.field);
    }
  }
  // The line end closes a comment that the query may end with.
  question.sql = fmt::format("select spillway_row.ordinal from {} where exists ({}\n) order by 1",
                             rows_sql(question.fields), query);
  return question;
}

base::Status TriageSession::check(const ports::Predicate& predicate) { return explain(question_of(predicate)); }

// Plans the statement without running it, which finds what is misspelt, missing and forbidden.
base::Status TriageSession::explain(const Question& question) {
  const auto planned = read_only(question, "explain ", {});
  if (planned) return {};
  if (!refused_for_its_rows() || timed_out()) return std::unexpected(planned.error());
  return base::fail(ErrorClass::kMisconfigured, refusal_words());
}

base::Result<ports::Matches> TriageSession::matches(const ports::Predicate& predicate, std::span<const AskedRow> rows) {
  understood_ = false;
  return ask_in_batches(question_of(predicate), rows);
}

base::Result<std::vector<std::size_t>> TriageSession::newer_for_key(std::span<const AskedRow> rows) {
  Question question;
  question.fields = {RowField::kSeq};
  question.settings = kByIndexAlone;
  const std::string seq = identifier(layout_.seq);
  // Newer ones of the key as the range behind this row in the index on (aggregateid, seq), which no other index can
  // serve: with `=` and `>` a planner without statistics may walk the primary key to the end of the table for each row.
  // The ledger as a scalar subquery: one look-up for each newer row, whatever the statistics say.
  question.sql = fmt::format(
      "select spillway_row.ordinal from {0} join {1} o on o.{2} = spillway_row.seq where (select 1 from {1} x where "
      "(x.{3}, x.{2}) > (o.{3}, o.{2}) and x.{3} <= o.{3} and x.{4} = o.{4} and x.{5} = o.{5} and "
      "(select 1 from spillway.settled s where s.outbox = {6} and s.seq = x.{2} and s.verdict <> 'publish') is null "
      "limit 1) is not null order by 1",
      rows_sql(question.fields), layout_.qualified(), seq, identifier(layout_.aggregate_id), identifier(layout_.type),
      identifier(layout_.aggregate_type), literal(outbox_));
  understood_ = true;
  auto found = ask_in_batches(question, rows);
  if (!found) return std::unexpected(found.error());
  if (found->failed.empty()) return std::move(found->matched);
  return base::fail(ErrorClass::kMisconfigured,
                    fmt::format("looking for newer events of a key in {}: {}; an index on ({}, {}) makes it quick",
                                layout_.name(), found->failed.front().message, layout_.aggregate_id, layout_.seq));
}

base::Result<ports::Matches> TriageSession::ask_in_batches(const Question& question, std::span<const AskedRow> rows) {
  ports::Matches found;
  for (std::size_t first = 0; first < rows.size();) {
    const std::size_t count = std::min(batch_, rows.size() - first);
    if (auto status = ask_halving(question, rows, first, count, found); !status) {
      return std::unexpected(status.error());
    }
    first += count;
    batch_ = std::min(batch_ * 2, kMostRows);
  }
  return found;
}

// A statement fails as a whole: halves are asked again until the row that is to blame stands alone.
base::Status TriageSession::ask_halving(const Question& question, std::span<const AskedRow> all, std::size_t first,
                                        std::size_t count, ports::Matches& found) {
  const auto answer = read_only(question, "", all.subspan(first, count));
  if (answer) {
    for (int row = 0; row < answer->rows(); ++row) {
      found.matched.push_back(first + static_cast<std::size_t>(answer->number(row, 0)) - 1);
    }
    return {};
  }
  if (!refused_for_its_rows()) return std::unexpected(answer.error());
  const bool too_slow = timed_out();
  std::string words = refusal_words();
  if (!too_slow && !understood_) {
    if (auto sound = explain(question); !sound) return sound;
    understood_ = true;
  }
  if (count == 1) {
    found.failed.push_back({first, std::move(words)});
    return {};
  }
  const std::size_t half = count / 2;
  if (too_slow) batch_ = std::max<std::size_t>(1, half / 2);
  if (auto status = ask_halving(question, all, first, half, found); !status) return status;
  return ask_halving(question, all, first + half, count - half, found);
}

// One statement in a transaction that cannot write.
base::Result<Answer> TriageSession::read_only(const Question& question, const char* prefix,
                                              std::span<const AskedRow> rows) {
  refusal_.reset();
  const auto begun =
      connection_.script(fmt::format("begin read only; set local statement_timeout = {}; set local lock_timeout = {}; "
                                     "set local jit = off; set local max_parallel_workers_per_gather = 0; "
                                     "set local random_page_cost = 1.1; select {}",
                                     limit_ms_, limit_ms_ * 3 / 4, kReadOnlySql));
  if (!begun) return std::unexpected(begun.error());
  if (begun->front().flag(0, 0)) {
    connection_.close();
    return base::fail(ErrorClass::kUnavailable, kNoWrites);
  }
  auto answer = connection_.ask(prefix + question.sql, values_of(question.fields, rows));
  refusal_ = connection_.refusal();
  if (refusal_ && refusal_->sqlstate == kWrites) {
    refusal_.reset();
    return base::fail(ErrorClass::kMisconfigured, "the query tries to write, and a rule may only read");
  }
  if (!connection_.connected()) return answer;
  if (auto ended = connection_.script(answer ? "commit" : "rollback"); !ended) {
    refusal_.reset();
    return std::unexpected(ended.error());
  }
  return answer;
}

bool TriageSession::refused_for_its_rows() const {
  if (!refusal_) return false;
  const ErrorClass consequence = failure_of(refusal_->sqlstate, "").error_class;
  return timed_out() || consequence == ErrorClass::kRejected || consequence == ErrorClass::kMisconfigured;
}

bool TriageSession::timed_out() const { return refusal_ && refusal_->sqlstate == kTimedOut; }

std::string TriageSession::refusal_words() const {
  if (timed_out()) return fmt::format("took longer than {} ms", limit_ms_);
  return fmt::format("{} (SQLSTATE {})", refusal_->message, refusal_->sqlstate);
}

}  // namespace spillway::postgres
