// A prepared statement in use: bind, step, read columns; given back when it goes out of scope.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3_stmt;

namespace spillway::sqlite {

class Connection;

// Text and blobs are bound without a copy: they must outlive the last step. Views returned live until the next step.
// Every call may throw Failure.
class Statement {
 public:
  Statement(Connection& connection, sqlite3_stmt* prepared) : connection_(connection), prepared_(prepared) {}
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Parameters in the order in which they stand in the statement.
  Statement& bind(std::int64_t value);
  Statement& bind(std::string_view value);
  Statement& bind_real(double value);
  Statement& bind_null();
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }

  // True while there is a row.
  bool step();
  // For statements that return nothing: steps once and gives the number of rows changed.
  std::int64_t run();
  // Ready for the next set of parameters.
  void reset();

  bool null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  // the bytes of text or blob; other values as SQLite renders them
  std::optional<std::string> optional_text(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;

  sqlite3_stmt* raw() const { return prepared_; }

 private:
  void check(int code) const;

  Connection& connection_;
  sqlite3_stmt* prepared_;
  int bound_ = 0;
};

}  // namespace spillway::sqlite
