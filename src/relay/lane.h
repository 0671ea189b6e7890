// One stretch of the outbox in reading order: what was read of it, and what is on its way out.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "model/position.h"
#include "model/row.h"
#include "relay/batch.h"
#include "relay/window.h"

namespace spillway::relay {

class Lane {
 public:
  // Its rows have the ordinals [range, range + 1) * 2^kRangeBits.
  explicit Lane(model::Position start = {}, Ordinal range = 0)
      : range_(range), read_from_(start), window_(std::move(start), range << kRangeBits) {}

  bool holds(Ordinal ordinal) const { return ordinal >> kRangeBits == range_; }

  const model::Position& read_from() const { return read_from_; }
  const Window& window() const { return window_; }
  Window& window() { return window_; }
  std::deque<Batch>& batches() { return batches_; }
  const std::deque<Batch>& batches() const { return batches_; }

  // The page that was read from `read_from`; null where it has no rows.
  Batch* take(model::Page page);
  void read_on_from(model::Position place) { read_from_ = std::move(place); }

  // Rows that were read and neither sent nor put anywhere else: how many, and the first of them.
  std::size_t unplaced() const;
  std::optional<Ordinal> first_unplaced() const;

 private:
  static constexpr int kRangeBits = 40;

  Ordinal range_;
  model::Position read_from_;
  Window window_;
  std::deque<Batch> batches_;
};

}  // namespace spillway::relay
