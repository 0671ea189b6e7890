#include "sqlite/query.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

namespace spillway::sqlite {
namespace {

using base::ErrorClass;
using Clock = std::chrono::steady_clock;

// Steps of SQLite's machine between two looks at the clock: well below a millisecond.
constexpr int kStepsBetweenLooks = 10'000;

Failure misconfigured(std::string message) { return {ErrorClass::kMisconfigured, std::move(message)}; }

void bind_text(sqlite3_stmt* prepared, int at, std::optional<std::string_view> text) {
  if (!text) {
    sqlite3_bind_null(prepared, at);
    return;
  }
  sqlite3_bind_text64(prepared, at, text->data() ? text->data() : "", text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

}  // namespace

Query::Query(Connection& connection, const ports::Predicate& predicate, std::chrono::milliseconds time_limit)
    : connection_(connection), time_limit_(time_limit) {
  std::string sql;
  for (const auto& piece : predicate.pieces) {
    sql += piece.text;
    if (!piece.field) continue;
    auto known = std::ranges::find(fields_, *piece.field);
    if (known == fields_.end()) known = fields_.insert(known, *piece.field);
    sql += fmt::format("?{}", known - fields_.begin() + 1);
  }
  const char* rest = nullptr;
  const int code =
      sqlite3_prepare_v3(connection.raw(), sql.c_str(), static_cast<int>(sql.size() + 1), 0, &prepared_, &rest);
  if (code == SQLITE_ERROR) throw misconfigured(sqlite3_errmsg(connection.raw()));
  if (code != SQLITE_OK) throw connection.failure(code);
  const bool reads = prepared_ == nullptr || sqlite3_stmt_readonly(prepared_) != 0;
  const bool answers = prepared_ != nullptr && sqlite3_column_count(prepared_) > 0;
  const bool single = std::string_view(rest).find_first_not_of(" \t\r\n;") == std::string_view::npos;
  if (reads && answers && single) return;
  sqlite3_finalize(prepared_);
  if (!single) throw misconfigured("holds more than one statement");
  throw misconfigured(reads ? "returns no rows: expected a select" : "would write, and a rule may only read");
}

Query::~Query() { sqlite3_finalize(prepared_); }

void Query::bind(const ports::AskedRow& row) {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const int at = static_cast<int>(i) + 1;
    switch (fields_[i]) {
      case ports::RowField::kSeq: sqlite3_bind_int64(prepared_, at, row.seq); break;
      case ports::RowField::kId: bind_text(prepared_, at, base::to_string(row.id)); break;
      case ports::RowField::kAggregateType: bind_text(prepared_, at, row.aggregate_type); break;
      case ports::RowField::kAggregateId: bind_text(prepared_, at, row.aggregate_id); break;
      case ports::RowField::kType: bind_text(prepared_, at, row.type); break;
      case ports::RowField::kKey: bind_text(prepared_, at, row.key); break;
    }
  }
}

Query::Answer Query::ask(const ports::AskedRow& row) {
  bind(row);
  deadline_ = Clock::now() + time_limit_;
  const auto too_late = [](void* self) { return Clock::now() > static_cast<Query*>(self)->deadline_ ? 1 : 0; };
  sqlite3_progress_handler(connection_.raw(), kStepsBetweenLooks, too_late, this);
  const int code = sqlite3_step(prepared_);
  sqlite3_progress_handler(connection_.raw(), 0, nullptr, nullptr);
  Answer answer{.holds = code == SQLITE_ROW};
  std::optional<Failure> failure;
  switch (code & 0xff) {
    case SQLITE_ROW:
    case SQLITE_DONE: break;
    case SQLITE_INTERRUPT: answer.trouble = fmt::format("took longer than {} ms", time_limit_.count()); break;
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT: answer.trouble = sqlite3_errmsg(connection_.raw()); break;
    default: failure = connection_.failure(code);
  }
  sqlite3_reset(prepared_);
  if (failure) throw *failure;
  return answer;
}

}  // namespace spillway::sqlite
