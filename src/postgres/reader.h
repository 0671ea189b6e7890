// Reads an append-only table by the difference of two snapshots: in each frame every row exactly once, however late its
// transaction committed. A small frame comes whole by the index on (tx, seq); a large one is paged by seq.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ports/outbox_store.h"
#include "postgres/connection.h"
#include "postgres/layout.h"
#include "postgres/page_fetch.h"
#include "postgres/snapshot.h"

namespace spillway::postgres {

class Reader final : public ports::OutboxReader {
 public:
  Reader(ConnectOptions connect, std::string outbox, TableLayout layout);

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
  struct Pair {
    Snapshot from;
    Snapshot to;
    std::vector<std::uint64_t> late;  // seen by `to`, still running for `from`
  };

  // Where the rows of a closed frame lie. `first` and `last` span the rows whose transactions began after `from`;
  // `last` also covers late rows, which may lie before `first` and are then read apart.
  struct Span {
    std::string from;
    std::string to;
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t first_late = 0;  // the smallest of the late rows
    bool complete = false;
    // How far the search for the two has come.
    std::string after_tx;
    std::int64_t after_seq = 0;
  };

  base::Result<std::optional<model::Page>> read_open(const model::Position& from, const Snapshot& since,
                                                     ports::ReadLimits limits, model::Frame& frozen);
  base::Result<model::Page> read_closed(const model::Position& at, ports::ReadLimits limits);
  base::Result<model::Page> read_walk(const model::Position& at, ports::ReadLimits limits, std::int64_t after);
  base::Result<model::Page> read_late(const model::Position& at, const Pair& pair, ports::ReadLimits limits);
  base::Status find_span(const model::Frame& frame, const Pair& pair);
  std::int64_t before_all_of(const model::Position& place) const;
  base::Result<std::string> beyond(std::span<const model::Position> places) const;

  PageFetch fetch_;
  TableLayout layout_;
  std::string table_;
  bool expect_large_ = false;  // the last frame was: freeze the next one without asking for its rows
  std::vector<Span> spans_;    // of the frames read last
};

}  // namespace spillway::postgres
