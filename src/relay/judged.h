// Up to where the rows of an interval have their verdict.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ports/outbox_store.h"

namespace spillway::relay {

class Judged {
 public:
  Judged() = default;
  explicit Judged(const ports::Interval& saved) {
    if (saved.judged) frames_.push_back({saved.at.frame, *saved.judged});
  }

  // Rows are judged in the order of the lane: whoever goes on with another frame is through with the one before.
  void up_to(const model::Frame& frame, std::int64_t seq);
  bool covers(const model::Frame& frame, std::int64_t seq) const;

  // `place` and what follows it up to `end`, one entry for each stretch that was judged as far or is not judged.
  std::vector<ports::Interval> from(const model::Position& place, const std::string& end,
                                    std::int64_t began_unix_micros) const;

 private:
  static constexpr std::int64_t kWhole = std::numeric_limits<std::int64_t>::max();

  struct Of {
    model::Frame frame;
    std::int64_t seq;
  };

  std::vector<Of> frames_;  // one after the other
};

}  // namespace spillway::relay
