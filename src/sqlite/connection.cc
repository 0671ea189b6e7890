#include "sqlite/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

namespace spillway::sqlite {
namespace {

std::string mark_of(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return "";
  return fmt::format("{}:{}", info.st_dev, info.st_ino);
}

}  // namespace

Connection::Connection(const std::string& path, std::chrono::milliseconds time_limit, OpenMode mode) : path_(path) {
  const int create = mode == OpenMode::kCreate ? SQLITE_OPEN_CREATE : 0;
  const int code = sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | create, nullptr);
  if (code != SQLITE_OK) {
    const Failure why = failure(code);
    close();
    throw why;
  }
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, static_cast<int>(time_limit.count()));
  file_mark_ = mark_of(path);
  try {
    // What a call reported as saved survives a power cut; the writer's own setting does not matter, because syncing
    // the log syncs everything that stands before it.
    execute("PRAGMA synchronous=FULL");
  } catch (...) {
    close();
    throw;
  }
}

Connection::~Connection() { close(); }

void Connection::close() {
  for (auto& [sql, statement] : prepared_) sqlite3_finalize(statement);
  prepared_.clear();
  sqlite3_close_v2(db_);
  db_ = nullptr;
}

Statement Connection::use(const char* sql) {
  sqlite3_stmt*& statement = prepared_[sql];
  if (!statement) {
    const int code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) throw failure(code);
  }
  return {*this, statement};
}

void Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw failure(code);
}

bool Connection::moved() const {
  int answer = 0;
  return sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &answer) == SQLITE_OK && answer != 0;
}

Transaction::Transaction(Connection& connection, Kind kind) : connection_(connection) {
  connection_.use(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN").run();
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(connection_.raw(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  connection_.use("COMMIT").run();
  open_ = false;
}

}  // namespace spillway::sqlite
