// What became of single rows and is not in the ledger yet, in the order in which it was decided.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "model/settlement.h"
#include "relay/window.h"

namespace spillway::relay {

class Unrecorded {
 public:
  struct Row {
    model::Settlement settlement;
    Ordinal ordinal = 0;  // finished once the settlement is recorded
  };

  void add(model::Settlement settlement, Ordinal ordinal) {
    ++added_;
    rows_.push_back({std::move(settlement), ordinal});
  }

  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }
  const std::deque<Row>& rows() const { return rows_; }

  // What to record next, at most `most`; asked for anew where that failed.
  std::vector<model::Settlement> to_record(std::size_t most) {
    recording_ = std::min(rows_.size(), most);
    std::vector<model::Settlement> settlements;
    for (std::size_t i = 0; i < recording_; ++i) settlements.push_back(rows_[i].settlement);
    return settlements;
  }
  // The last `to_record` is on record. Returns it.
  std::vector<Row> recorded() {
    const auto end = rows_.begin() + static_cast<std::ptrdiff_t>(std::exchange(recording_, 0));
    std::vector<Row> recorded(std::make_move_iterator(rows_.begin()), std::make_move_iterator(end));
    rows_.erase(rows_.begin(), end);
    recorded_ += static_cast<std::int64_t>(recorded.size());
    return recorded;
  }

  // How many were ever added, and how many of them, the first ones, are on record.
  std::int64_t added() const { return added_; }
  std::int64_t recorded_so_far() const { return recorded_; }

 private:
  std::deque<Row> rows_;
  std::size_t recording_ = 0;  // of rows_, from the front
  std::int64_t added_ = 0;
  std::int64_t recorded_ = 0;
};

}  // namespace spillway::relay
