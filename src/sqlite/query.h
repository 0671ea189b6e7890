// A query that users wrote, about one row at a time. It may only read, and it may not run for ever.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "ports/predicate.h"
#include "sqlite/connection.h"

namespace spillway::sqlite {

class Query {
 public:
  // kMisconfigured as Failure where SQLite does not understand it, or where it would write. Refers to the connection.
  Query(Connection& connection, const ports::Predicate& predicate, std::chrono::milliseconds time_limit);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // Whether it returns a row for this one; `trouble` says why there is no answer. Throws Failure where the file is the
  // reason, and not the query.
  struct Answer {
    bool holds = false;
    std::optional<std::string> trouble{};
  };
  Answer ask(const ports::AskedRow& row);

 private:
  void bind(const ports::AskedRow& row);

  Connection& connection_;
  std::chrono::milliseconds time_limit_;
  std::chrono::steady_clock::time_point deadline_{};
  std::vector<ports::RowField> fields_;  // as ?1, ?2 …
  sqlite3_stmt* prepared_ = nullptr;
};

}  // namespace spillway::sqlite
