// A place where rows wait in order: one partition of a topic, or a whole topic that is not ready.
//
// A partition that takes nothing must hold back only its own keys. So each has its share of what may be in flight, and
// rows beyond it are remembered by their ordinal alone: dropped from memory, read again when the partition moves.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/time.h"
#include "relay/window.h"

namespace spillway::relay {

// A row that is not in memory. Waiting rows go by seq, which is the order of a key and the order in which a store hands
// rows over again; across frames the window's order is another one.
struct Waiting {
  std::int64_t seq = 0;
  Ordinal ordinal = 0;

  auto operator<=>(const Waiting&) const = default;
};

class Gate {
 public:
  // A partition with something in flight that has acknowledged nothing for this long takes nothing.
  static constexpr base::Duration kStallAfter = std::chrono::seconds(1);

  void sent(std::size_t bytes, base::Instant now) {
    if (in_flight_ == 0) last_progress_ = now;
    ++in_flight_;
    bytes_ += bytes;
  }
  void answered(std::size_t bytes, base::Instant now) {
    --in_flight_;
    bytes_ -= bytes;
    last_progress_ = now;
  }

  std::size_t in_flight() const { return in_flight_; }
  std::size_t bytes() const { return bytes_; }
  bool stalled(base::Instant now) const { return in_flight_ > 0 && base::elapsed(last_progress_, now) >= kStallAfter; }
  base::Duration silent_for(base::Instant now) const {
    return in_flight_ > 0 ? base::elapsed(last_progress_, now) : base::Duration::zero();
  }

  // Rows of this gate must queue behind others that are not in memory.
  bool closed() const { return reading_again_ || !deferred_.empty(); }

  // Whether one of the rows that wait is older: rows that were sent may have come back.
  bool waits_before(std::int64_t seq) const { return !deferred_.empty() && deferred_.front().seq < seq; }

  void defer(const Waiting& row) {
    if (deferred_.empty() || deferred_.back() < row) {
      deferred_.push_back(row);
    } else {
      deferred_.insert(std::lower_bound(deferred_.begin(), deferred_.end(), row), row);
    }
  }
  std::size_t deferred() const { return deferred_.size(); }

  // The oldest waiting rows leave the queue, to be read again; `again_done` ends it.
  std::vector<Waiting> take(std::size_t limit) {
    const auto end = deferred_.begin() + static_cast<std::ptrdiff_t>(std::min(limit, deferred_.size()));
    std::vector<Waiting> taken(deferred_.begin(), end);
    deferred_.erase(deferred_.begin(), end);
    reading_again_ = true;
    return taken;
  }
  std::deque<Waiting> take_all() { return std::exchange(deferred_, {}); }
  // Those that may leave do so.
  template <typename MayLeave>
  void take_to(std::vector<Waiting>& taken, MayLeave&& may_leave) {
    const auto stay =
        std::stable_partition(deferred_.begin(), deferred_.end(), [&](const Waiting& row) { return !may_leave(row); });
    taken.insert(taken.end(), stay, deferred_.end());
    deferred_.erase(stay, deferred_.end());
  }
  bool reading_again() const { return reading_again_; }
  void again_done() { reading_again_ = false; }

  // A new life of the reader: nothing waits any more, but what was sent is still out.
  void forget_waiting() {
    deferred_.clear();
    reading_again_ = false;
  }

 private:
  std::size_t in_flight_ = 0;
  std::size_t bytes_ = 0;
  base::Instant last_progress_{};
  std::deque<Waiting> deferred_;
  bool reading_again_ = false;
};

}  // namespace spillway::relay
