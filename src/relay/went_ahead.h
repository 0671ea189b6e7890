// Rows that left before their lane came to them: those of keys that go first, and those that were on their way when
// their lane started over. The lane meets them later and passes them. They are acknowledged ahead of older ones and
// need no record: after a crash they are sent again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "relay/window.h"

namespace spillway::relay {

class WentAhead {
 public:
  // It is on its way. False where that is known, or it is finished. A lane that had met it has started over.
  bool add(std::int64_t seq) {
    const auto [row, added] = rows_.try_emplace(seq);
    row->second.met.reset();
    return added;
  }
  // It is finished and its lane has not passed it.
  void add_finished(std::int64_t seq) {
    if (Row& row = rows_[seq]; !row.finished) row.finished = true, ++finished_;
  }

  // It is not on its way any more. The ordinal of the lane that had met it, if any.
  std::optional<Ordinal> take_back(std::int64_t seq) {
    const auto row = rows_.extract(seq);
    return row.empty() ? std::nullopt : row.mapped().met;
  }

  bool contains(std::int64_t seq) const { return rows_.contains(seq); }
  bool is_finished(std::int64_t seq) const {
    const auto row = rows_.find(seq);
    return row != rows_.end() && row->second.finished;
  }

  // A lane comes upon a row. kPass: nothing is left to do about it; kFinishedLater: `finished` will name its ordinal.
  enum class Meeting : std::uint8_t { kUnknown, kPass, kFinishedLater };
  Meeting meet(std::int64_t seq, Ordinal ordinal) {
    const auto row = rows_.find(seq);
    if (row == rows_.end()) return Meeting::kUnknown;
    if (!row->second.finished) {
      row->second.met = ordinal;
      return Meeting::kFinishedLater;
    }
    rows_.erase(row);
    --finished_;
    return Meeting::kPass;
  }

  // Acknowledged, or on record. The ordinal of the lane that waits for it, if any.
  std::optional<Ordinal> finished(std::int64_t seq) {
    const auto row = rows_.find(seq);
    if (row == rows_.end() || row->second.finished) return std::nullopt;
    const std::optional<Ordinal> met = row->second.met;
    if (met) {
      rows_.erase(row);
    } else {
      row->second.finished = true;
      ++finished_;
    }
    return met;
  }

  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }
  // Of them those that are finished.
  std::size_t finished() const { return finished_; }
  void clear() { *this = WentAhead(); }

 private:
  struct Row {
    bool finished = false;
    std::optional<Ordinal> met;
  };

  std::unordered_map<std::int64_t, Row> rows_;
  std::size_t finished_ = 0;
};

}  // namespace spillway::relay
