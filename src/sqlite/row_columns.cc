#include "sqlite/row_columns.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "sqlite/created_at.h"
#include "sqlite/failure.h"

namespace spillway::sqlite {
namespace {

std::optional<std::string_view> copy_if_present(const Statement& statement, int column, model::Arena& arena) {
  if (statement.null(column)) return std::nullopt;
  return arena.copy(statement.text(column));
}

model::Timestamp created_at(const Statement& statement, int column) {
  switch (sqlite3_column_type(statement.raw(), column)) {
    case SQLITE_INTEGER: return created_at_from_millis(statement.integer(column));
    case SQLITE_FLOAT: {
      const double millis = statement.real(column);
      constexpr double kMost = 9e15;
      if (millis > kMost) return {model::Timestamp::Kind::kInfinity};
      if (millis < -kMost) return {model::Timestamp::Kind::kMinusInfinity};
      return model::Timestamp::at(static_cast<std::int64_t>(millis * 1000));
    }
    case SQLITE_TEXT: return created_at_from_text(statement.text(column));
    default: return {};
  }
}

}  // namespace

std::size_t append_row(Statement& statement, const std::string& path, model::Page& page) {
  const auto id = base::parse_uuid(statement.text(1));
  if (!id) {
    throw Failure(base::ErrorClass::kMisconfigured,
                  fmt::format("{}: spillway_outbox row {} has the id \"{}\", which is no UUID: correct it", path,
                              statement.integer(0), statement.text(1).substr(0, 64)));
  }
  model::Row row;
  row.seq = statement.integer(0);
  row.id = *id;
  row.aggregate_type = page.arena.copy(statement.text(2));
  row.aggregate_id = copy_if_present(statement, 3, page.arena);
  row.type = page.arena.copy(statement.text(4));
  row.payload = copy_if_present(statement, 5, page.arena);
  row.headers = copy_if_present(statement, 6, page.arena);
  row.created_at = created_at(statement, 7);
  page.rows.push_back(row);
  return row.bytes();
}

}  // namespace spillway::sqlite
