// Everything that waits in an outbox now, page by page, for commands that look and change nothing.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/row.h"
#include "ports/outbox_store.h"

namespace spillway::app {

// What is not finished beyond the saved progress and not in the ledger. It ends with what was visible when it came to
// the live end, so that it ends under traffic too.
class WaitingRows {
 public:
  // Refers to the store.
  explicit WaitingRows(ports::OutboxStore& store, ports::ReadLimits limits = {.rows = 5000, .bytes = 8 << 20});

  // Oldest interval first. A page may hold no rows; empty: that was all.
  base::Result<std::optional<model::Page>> next();

 private:
  base::Status load();

  ports::OutboxStore& store_;
  ports::ReadLimits limits_;
  std::unique_ptr<ports::OutboxReader> reader_;
  std::string incarnation_;
  bool loaded_ = false;
  bool live_continues_ = false;       // rows follow the frame that live stands in
  std::deque<model::Position> left_;  // each to be read to the end of its frame
};

}  // namespace spillway::app
