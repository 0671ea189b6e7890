#include "governor/sent_history.h"

#include <algorithm>

namespace spillway::governor {

namespace {
constexpr double kKeptSeconds = 90;
}

void SentHistory::record(double t, double events) {
  if (!started_) {
    started_ = true;
    last_ = t;
    return;
  }
  if (t <= last_) {
    if (!slices_.empty()) slices_.back().events += events;
    return;
  }
  slices_.push_back({last_, t, events});
  last_ = t;
  while (slices_.front().to < t - kKeptSeconds) slices_.pop_front();
}

double SentHistory::over(double from, double to, double unknown_rate) const {
  double known = 0;
  double sum = 0;
  for (auto slice = slices_.rbegin(); slice != slices_.rend() && slice->to > from; ++slice) {
    const double overlap = std::min(to, slice->to) - std::max(from, slice->from);
    if (overlap <= 0) continue;
    known += overlap;
    sum += slice->events * overlap / (slice->to - slice->from);
  }
  return sum + std::max(0.0, to - from - known) * unknown_rate;
}

}  // namespace spillway::governor
