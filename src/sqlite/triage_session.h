// What rules of triage ask of the file and of the tables that the application keeps in it: row by row, because a
// statement costs no round trip here.
#pragma once

#include <string>

#include "ports/triage_session.h"
#include "sqlite/session.h"

namespace spillway::sqlite {

class TriageSession final : public ports::TriageSession {
 public:
  explicit TriageSession(StoreOptions options) : time_limit_(options.time_limit), session_(std::move(options)) {}

  base::Status check(const ports::Predicate& predicate) override;
  base::Result<ports::Matches> matches(const ports::Predicate& predicate,
                                       std::span<const ports::AskedRow> rows) override;
  base::Result<std::vector<std::size_t>> newer_for_key(std::span<const ports::AskedRow> rows) override;

 private:
  std::chrono::milliseconds time_limit_;  // of one row
  Session session_;
};

}  // namespace spillway::sqlite
