// What rules of triage ask of the database, a page of rows at a time. Reads only.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/predicate.h"

namespace spillway::ports {

// Indexes into the rows that were asked about, ascending.
struct Matches {
  struct Failure {
    std::size_t row = 0;
    std::string message{};  // as the database put it
  };
  std::vector<std::size_t> matched{};
  std::vector<Failure> failed{};
};

// Slow queries make slow calls: the store's time limit holds for each statement, and a page that is asked about in
// parts takes several. Nothing else should wait on the thread that asks.
class TriageSession {
 public:
  virtual ~TriageSession() = default;

  // Whether the database understands the query and lets this user run it: kMisconfigured with the database's message
  // where it does not. Does not run it.
  virtual base::Status check(const Predicate& predicate) = 0;

  // For which of these rows the query returns a row. A row for which it raises an error, or for which alone it takes
  // longer than the store's time limit, is in `failed` and leaves the others as they are. kMisconfigured where the
  // query fails whatever the row is: its table is gone, for example.
  virtual base::Result<Matches> matches(const Predicate& predicate, std::span<const AskedRow> rows) = 0;

  // Which of these rows have a newer one (larger seq) of the same aggregatetype, aggregateid and type that is or will
  // be published as far as is known: one that the ledger holds as discarded, set aside or left to a person does not
  // count. A row without an aggregateid has none. Needs an index on (aggregateid, seq) to be quick.
  virtual base::Result<std::vector<std::size_t>> newer_for_key(std::span<const AskedRow> rows) = 0;
};

}  // namespace spillway::ports
