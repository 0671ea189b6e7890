// What rules of triage ask: one statement a question, with a page of rows as its parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ports/triage_session.h"
#include "postgres/answer.h"
#include "postgres/connection.h"
#include "postgres/layout.h"

namespace spillway::postgres {

class TriageSession final : public ports::TriageSession {
 public:
  TriageSession(ConnectOptions connect, std::string outbox, TableLayout layout);

  base::Status check(const ports::Predicate& predicate) override;
  base::Result<ports::Matches> matches(const ports::Predicate& predicate,
                                       std::span<const ports::AskedRow> rows) override;
  base::Result<std::vector<std::size_t>> newer_for_key(std::span<const ports::AskedRow> rows) override;

 private:
  // A statement that gives the ordinal (from 1) of each row that it holds for.
  struct Question {
    std::string sql;
    std::vector<ports::RowField> fields;  // one array each, as $1, $2 …
    const char* settings = "";            // for the planner
  };

  static Question question_of(const ports::Predicate& predicate);
  base::Result<ports::Matches> ask_in_batches(const Question& question, std::span<const ports::AskedRow> rows);
  base::Status ask_halving(const Question& question, std::span<const ports::AskedRow> all, std::size_t first,
                           std::size_t count, ports::Matches& found);
  base::Result<Answer> read_only(const Question& question, const char* prefix, std::span<const ports::AskedRow> rows);
  base::Status explain(const Question& question);
  bool refused_for_its_rows() const;
  bool timed_out() const;
  std::string refusal_words() const;

  // Of one statement; below the connection's, so that it is the server that gives up and says so.
  std::int64_t limit_ms_;
  Connection connection_;
  std::string outbox_;
  TableLayout layout_;
  std::optional<Connection::Refusal> refusal_;  // of the last statement, where the server refused it
  std::size_t batch_;                           // rows in one statement: fewer where it ran into the time limit
  bool understood_ = false;                     // whether the question in hand is known to be sound
};

}  // namespace spillway::postgres
