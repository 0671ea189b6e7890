// One SQLite connection with its prepared statements, and transactions on it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "sqlite/failure.h"
#include "sqlite/statement.h"

struct sqlite3;
struct sqlite3_stmt;

namespace spillway::sqlite {

enum class OpenMode : std::uint8_t { kExisting, kCreate };

// One thread at a time. Every call may throw Failure.
class Connection {
 public:
  Connection(const std::string& path, std::chrono::milliseconds time_limit, OpenMode mode = OpenMode::kExisting);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Prepared once for the connection's life. `sql` is a constant: its address is the key.
  Statement use(const char* sql);
  // Any number of statements, results ignored.
  void execute(const std::string& sql);

  // The path no longer leads to the file that this connection holds open: removed, or replaced by a restored copy.
  bool moved() const;
  // Names the file as it lies on the disk: device and inode. A copy put in its place has another one.
  const std::string& file_mark() const { return file_mark_; }

  Failure failure(int code) const { return failure_of(code, db_, path_); }
  const std::string& path() const { return path_; }
  sqlite3* raw() const { return db_; }

 private:
  void close();

  std::string path_;
  sqlite3* db_ = nullptr;
  std::string file_mark_;
  std::unordered_map<const char*, sqlite3_stmt*> prepared_;
};

// Rolled back unless committed. kWrite takes the write lock at once, so that what is read inside still holds when it
// commits; kRead gives all its statements one snapshot.
class Transaction {
 public:
  enum class Kind : std::uint8_t { kRead, kWrite };

  Transaction(Connection& connection, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Connection& connection_;
  bool open_ = true;
};

}  // namespace spillway::sqlite
