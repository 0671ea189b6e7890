// How this adapter speaks of errors inside: thrown by statements, turned into a base::Error where a session answers.
#pragma once

#include <stdexcept>
#include <string>

#include "base/result.h"

struct sqlite3;

namespace spillway::sqlite {

struct Failure : std::runtime_error {
  Failure(base::ErrorClass consequence, const std::string& message, bool drop = false)
      : std::runtime_error(message), error_class(consequence), drop_connection(drop) {}

  base::ErrorClass error_class;
  bool drop_connection;  // the connection may be unusable: open a new one at the next call
};

// The failure that SQLite's result code stands for. `db` may be null; `path` names the file for people.
Failure failure_of(int code, sqlite3* db, const std::string& path);

}  // namespace spillway::sqlite
