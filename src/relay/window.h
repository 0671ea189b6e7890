// The rows that have been read in order and are not all finished: what may be saved, and how far work has run ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "model/position.h"
#include "model/row.h"

namespace spillway::relay {

// A row's place in reading order, counted from the start of the window's life.
using Ordinal = std::uint64_t;

// Below this they are places in lanes; above it rows that leave outside the order of pages.
constexpr Ordinal kPromotedBegin = Ordinal{1} << 62;

class Window {
 public:
  // Everything before `start` is finished. Ordinals begin with `first`.
  explicit Window(model::Position start = {}, Ordinal first = 0) : position_(std::move(start)), next_ordinal_(first) {}

  // Takes the page's rows in order and returns the ordinal of the first; the others follow by one each. A page without
  // rows only moves the place where saving and reading go on.
  Ordinal append(const model::Page& page);

  // Acknowledged, or recorded in the ledger. Each row once.
  void finish(Ordinal ordinal) { finish(ordinal, Row::kAcknowledged); }
  void recorded(Ordinal ordinal) { finish(ordinal, Row::kRecorded); }

  // `f(seq, ordinal, how)` for every row beyond the place; `how`: whether it is open, acknowledged, or on record.
  enum class Row : std::uint8_t { kOpen, kAcknowledged, kRecorded };
  template <typename F>
  void each(F&& f) const {
    for (const Stretch& stretch : stretches_) {
      for (std::size_t i = stretch.passed; i < stretch.seqs.size(); ++i)
        f(stretch.seqs[i], stretch.first + i, stretch.rows[i]);
    }
  }

  // The place up to which everything is finished; within the frame of the first row that is not, where there is one.
  const model::Position& position() const { return position_; }

  // Rows that were acknowledged although an older one is not finished: what a crash now would send again, beside those
  // in flight. What is on record is not sent again and does not count.
  std::size_t ahead() const { return ahead_; }
  // Rows that are not finished.
  std::size_t open() const { return open_; }
  bool empty() const { return open_ == 0; }

 private:
  struct Stretch {
    Ordinal first = 0;
    model::Frame frame;
    std::optional<std::int64_t> before;  // the last seq of the frame before its first row
    model::Position next;
    std::vector<std::int64_t> seqs;
    std::vector<Row> rows;   // what became of each
    std::size_t passed = 0;  // rows at the start of the stretch that are finished without a gap
  };

  void finish(Ordinal ordinal, Row how);
  Stretch& stretch_of(Ordinal ordinal);
  void advance();

  std::deque<Stretch> stretches_;
  model::Position position_;
  model::Position read_up_to_ = position_;
  Ordinal next_ordinal_ = 0;
  std::size_t ahead_ = 0;
  std::size_t open_ = 0;
};

}  // namespace spillway::relay
