// Rows in memory on their way out, row by row.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/row.h"
#include "relay/window.h"

namespace spillway::relay {

struct Batch {
  model::Page page;
  std::size_t next = 0;
  std::vector<Ordinal> ordinals;      // of each row
  std::optional<std::uint32_t> gate;  // read again for this one
  // Not before what has to be known about its rows is known: their keys' backlog, or their verdicts.
  bool ready = true;
  std::vector<bool> waits;    // live rows whose key has backlog; empty: none
  std::vector<bool> settled;  // backlog rows that triage keeps from being sent; empty: none
  std::int64_t verdicts = 0;  // how many settlements have to be on record before its verdicts are

  bool waits_at(std::size_t row) const { return !waits.empty() && waits[row]; }
  bool done() const { return next == page.rows.size(); }
  std::size_t left() const { return page.rows.size() - next; }
};

}  // namespace spillway::relay
