#include "sqlite/statement.h"

#include <sqlite3.h>

#include "sqlite/connection.h"

namespace spillway::sqlite {

Statement::~Statement() { reset(); }

void Statement::reset() {
  sqlite3_reset(prepared_);
  sqlite3_clear_bindings(prepared_);
  bound_ = 0;
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) throw connection_.failure(code);
}

Statement& Statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(prepared_, ++bound_, value));
  return *this;
}

Statement& Statement::bind(std::string_view value) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* at = value.data() ? value.data() : "";
  check(sqlite3_bind_text64(prepared_, ++bound_, at, value.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_real(double value) {
  check(sqlite3_bind_double(prepared_, ++bound_, value));
  return *this;
}

Statement& Statement::bind_null() {
  check(sqlite3_bind_null(prepared_, ++bound_));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(prepared_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  throw connection_.failure(code);
}

std::int64_t Statement::run() {
  step();
  return sqlite3_changes64(sqlite3_db_handle(prepared_));
}

bool Statement::null(int column) const { return sqlite3_column_type(prepared_, column) == SQLITE_NULL; }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(prepared_, column); }

double Statement::real(int column) const { return sqlite3_column_double(prepared_, column); }

std::string_view Statement::text(int column) const {
  const void* at = sqlite3_column_type(prepared_, column) == SQLITE_BLOB
                       ? sqlite3_column_blob(prepared_, column)
                       : static_cast<const void*>(sqlite3_column_text(prepared_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(prepared_, column));
  return at ? std::string_view(static_cast<const char*>(at), size) : std::string_view("", 0);
}

std::optional<std::string> Statement::optional_text(int column) const {
  if (null(column)) return std::nullopt;
  return std::string(text(column));
}

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  if (null(column)) return std::nullopt;
  return integer(column);
}

}  // namespace spillway::sqlite
