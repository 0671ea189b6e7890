// Pages of outbox rows over one connection: for each one transaction, one snapshot and one round trip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "model/row.h"
#include "ports/outbox_store.h"
#include "postgres/answer.h"
#include "postgres/connection.h"
#include "postgres/layout.h"

namespace spillway::postgres {

// Before every seq. One above the smallest number, which PostgreSQL does not read as a bigint.
inline constexpr std::int64_t kNoSeq = std::numeric_limits<std::int64_t>::min() + 1;

class PageFetch {
 public:
  // The columns of `facts`.
  enum Fact : int { kIncarnation, kSnapshot, kNow, kPayloadType, kReadOnly, kMoreFacts };

  struct Fetched {
    model::Page page;
    Answer facts;
    std::size_t seen = 0;  // rows that the server sent
    bool full = false;     // the byte limit was reached
  };

  PageFetch(ConnectOptions connect, std::string outbox, TableLayout layout);

  // Answers for another incarnation are kLostPlace from now on. True where the last one was another.
  bool expect(const std::string& incarnation);

  // The facts, then the rows of `select`, which names the columns @columns@ of the alias o; none where it is empty.
  base::Result<Fetched> fetch(const std::string& more_facts, const std::string& select, std::size_t byte_limit);

  // These rows, as OutboxReader::read_again has them.
  base::Result<model::Page> again(std::span<const std::int64_t> seqs, ports::ReadLimits limits);

  // " and …": a row of `alias` is not in the ledger. `range` narrows where in the ledger that may be, by seq.
  std::string not_settled(const std::string& alias, const std::string& range) const;
  std::size_t row_limit(ports::ReadLimits limits) const;

 private:
  void learn(const Fetched& fetched);

  Connection connection_;
  std::string outbox_;
  TableLayout layout_;
  std::string table_;
  std::string incarnation_;
  std::optional<std::string> payload_type_;  // as the last answer said; decides how the payload is asked for
  double average_row_ = 256;
};

}  // namespace spillway::postgres
