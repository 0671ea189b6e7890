// The recent calls a breaker judges by: the last N calls, or the last N seconds.
#pragma once

#include <cstdint>
#include <vector>

#include "spillway/resilience/time.h"

namespace spillway::resilience {

enum class WindowKind : std::uint8_t { kCount, kTime };

struct CallCounts {
  std::uint32_t total = 0;
  std::uint32_t failed = 0;
  std::uint32_t slow = 0;  // a call may be slow and failed; it counts in both
};

// One thread at a time. A time window has buckets of one second, aligned to its creation, the current one included.
// A clock that goes back adds to the newest bucket.
class CallWindow {
 public:
  CallWindow(WindowKind kind, std::uint32_t size, Instant created);

  // Whether a rate can have risen: a good call in a full count window only takes the place of another.
  bool add(bool failed, bool slow, Instant now) {
    if (kind_ == WindowKind::kCount) return add_to_ring(failed, slow);
    add_to_bucket(failed, slow, now);
    return true;
  }

  // Leaves out what is too old at `now`; costs at most one pass over the buckets, however long nothing happened.
  const CallCounts& counts(Instant now);
  void clear() noexcept;

 private:
  static constexpr std::uint8_t kFailed = 1;
  static constexpr std::uint8_t kSlow = 2;

  bool add_to_ring(bool failed, bool slow) {
    const auto call = static_cast<std::uint8_t>((failed ? kFailed : 0) | (slow ? kSlow : 0));
    std::uint8_t& place = ring_[next_];
    const bool full = sum_.total == ring_.size();
    if (!full) {
      ++sum_.total;
    } else if (place != 0) {
      sum_.failed -= place & kFailed;
      sum_.slow -= place >> 1;
    }
    if (call != 0) {
      sum_.failed += failed;
      sum_.slow += slow;
    }
    place = call;
    if (++next_ == ring_.size()) next_ = 0;
    return !full || call != 0;
  }
  void add_to_bucket(bool failed, bool slow, Instant now);
  void advance(Instant now);

  WindowKind kind_;
  Instant created_;
  CallCounts sum_;
  std::vector<std::uint8_t> ring_;
  std::size_t next_ = 0;
  std::vector<CallCounts> buckets_;
  std::int64_t second_ = 0;  // of the newest bucket, since creation
};

}  // namespace spillway::resilience
