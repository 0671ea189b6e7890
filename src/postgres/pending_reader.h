// Reads a table that has no column for snapshots, where rows are marked as they are acknowledged: the pending rows in
// order of `seq`, each once in a life.
//
// A row whose transaction committed late may lie before rows that were read long ago. So every look also lists, in the
// same snapshot, the pending rows up to the last one read, and nothing behind them is handed out while one of them was
// not. Thus where seq grows in the order in which a key's lock is taken, a key's rows keep their order. The list is as
// long as the rows that are in memory.
//
// Positions carry nothing that outlives the reader: any but the one it returned last is the beginning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ports/outbox_store.h"
#include "postgres/connection.h"
#include "postgres/layout.h"
#include "postgres/page_fetch.h"

namespace spillway::postgres {

class PendingReader final : public ports::OutboxReader {
 public:
  PendingReader(ConnectOptions connect, std::string outbox, TableLayout layout);

  base::Result<model::Page> read(const model::Position& from, const std::string& incarnation,
                                 ports::ReadLimits limits) override;
  base::Result<model::Page> read_again(std::span<const std::int64_t> seqs, const std::string& incarnation,
                                       ports::ReadLimits limits) override;
  base::Result<std::vector<std::size_t>> keys_behind(std::span<const ports::KeyBefore> keys,
                                                     std::span<const model::Position> places,
                                                     const std::string& incarnation) override;
  base::Result<model::Page> read_keys(std::span<const ports::KeyAfter> keys, std::span<const model::Position> places,
                                      const std::string& incarnation, ports::ReadLimits limits) override;

 private:
  // Those of `pending` that were not handed out. Forgets what was and is pending no longer; `cut`: the list ends early.
  std::vector<std::int64_t> take_note(const std::vector<std::int64_t>& pending, bool cut);
  base::Result<model::Page> read_late(std::span<const std::int64_t> late, ports::ReadLimits limits);
  void hand_out(model::Page& page);

  PageFetch fetch_;
  TableLayout layout_;
  std::string table_;
  std::int64_t last_;                 // the largest seq handed out
  std::vector<std::int64_t> handed_;  // ascending: handed out, and pending when last looked at
  model::Position next_;
};

}  // namespace spillway::postgres
