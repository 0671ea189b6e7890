#include "sqlite/failure.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace spillway::sqlite {

using base::ErrorClass;

Failure failure_of(int code, sqlite3* db, const std::string& path) {
  const std::string said = db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorClass::kTransient,
              fmt::format("{} is locked: another process has held its lock for longer than the time limit", path)};
    case SQLITE_NOTADB:
      return {
          ErrorClass::kMisconfigured,
          fmt::format("{} is not an SQLite database: give the path of one, or of a new file to `spillway init`", path),
          true};
    case SQLITE_CORRUPT:
      return {ErrorClass::kMisconfigured, fmt::format("{} is damaged ({}): restore it from a backup", path, said),
              true};
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {
          ErrorClass::kMisconfigured,
          fmt::format("{} cannot be written ({}): give this user write access to the file and its folder", path, said),
          true};
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL: return {ErrorClass::kUnavailable, fmt::format("{} cannot be used now: {}", path, said), true};
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG: return {ErrorClass::kRejected, fmt::format("{} refused a row: {}", path, said)};
    case SQLITE_ERROR:
      // A statement that the schema does not fit: a table or column is missing.
      return {ErrorClass::kMisconfigured, fmt::format("{}: {}: run `spillway init`", path, said)};
    default: return {ErrorClass::kFatal, fmt::format("{}: {} (SQLite code {})", path, said, code), true};
  }
}

}  // namespace spillway::sqlite
