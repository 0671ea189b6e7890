#include "spillway/resilience/call_window.h"

#include <algorithm>

namespace spillway::resilience {

CallWindow::CallWindow(WindowKind kind, std::uint32_t size, Instant created)
    : kind_(kind),
      created_(created),
      ring_(kind == WindowKind::kCount ? size : 0),
      buckets_(kind == WindowKind::kTime ? size : 0) {}

void CallWindow::add_to_bucket(bool failed, bool slow, Instant now) {
  advance(now);
  CallCounts& bucket = buckets_[static_cast<std::size_t>(second_) % buckets_.size()];
  for (CallCounts* counts : {&bucket, &sum_}) {
    ++counts->total;
    counts->failed += failed;
    counts->slow += slow;
  }
}

void CallWindow::advance(Instant now) {
  const std::int64_t second = std::chrono::floor<std::chrono::seconds>(elapsed(created_, now)).count();
  if (second <= second_) return;
  if (second - second_ >= static_cast<std::int64_t>(buckets_.size())) {
    clear();
  } else {
    for (std::int64_t s = second_ + 1; s <= second; ++s) {
      CallCounts& bucket = buckets_[static_cast<std::size_t>(s) % buckets_.size()];
      sum_.total -= bucket.total;
      sum_.failed -= bucket.failed;
      sum_.slow -= bucket.slow;
      bucket = {};
    }
  }
  second_ = second;
}

const CallCounts& CallWindow::counts(Instant now) {
  if (kind_ == WindowKind::kTime) advance(now);
  return sum_;
}

void CallWindow::clear() noexcept {
  sum_ = {};
  next_ = 0;
  std::ranges::fill(ring_, std::uint8_t{0});
  std::ranges::fill(buckets_, CallCounts{});
}

}  // namespace spillway::resilience
