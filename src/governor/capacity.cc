#include "governor/capacity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spillway::governor {

namespace {

constexpr std::size_t kWindows = 3;
constexpr double kRealDrop = 0.93;        // both of the last two below this share of C: the drop is real
constexpr double kFullyUsed = 0.96;       // growth needs the allowance to have been used
constexpr double kCalm = 0.5;             // growth needs the pressure below this
constexpr double kSlowStartGrowth = 0.2;  // per dead time
constexpr double kFastestGrowth = 0.05;   // per dead time
constexpr double kGrowth = 0.004;         // per dead time, right after a queue was seen
constexpr double kNoise = 2;              // standard deviations of a count
constexpr double kGrowthRampS = 20;       // the longer no queue shows, the bolder
constexpr double kReturnRampS = 10;       // likewise, towards what was possible not long ago
constexpr double kReturnTo = 0.9;         // of it
constexpr double kRemembersS = 900;

double sum(const std::deque<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

void CapacityEstimate::set(double capacity) { capacity_ = std::max(capacity, least_); }

void CapacityEstimate::keep_growth(double share) {
  if (capacity_ > before_) capacity_ = before_ + (capacity_ - before_) * share;
}

void CapacityEstimate::forget_samples() {
  delivered_.clear();
  sent_.clear();
}

// Less was delivered than offered, beyond the noise of counting.
bool CapacityEstimate::short_of_offered() const {
  const double offered = sum(sent_);
  const double delivered = sum(delivered_);
  return offered - delivered > std::max(0.015 * offered, kNoise * std::sqrt(delivered));
}

double CapacityEstimate::median_delivered() const {
  std::deque<double> sorted = delivered_;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

void CapacityEstimate::follow_queue(const Window& w) {
  queue_seen_ = w.t;
  if (!w.counts || delivered_.size() < 2) return;  // one bad window never lowers the capacity
  const double better_of_two = std::max(delivered_[delivered_.size() - 1], delivered_[delivered_.size() - 2]);
  const bool is_short = short_of_offered();
  const bool limited = w.sent_earlier < kRealDrop * capacity_;
  if (w.pressure >= 1 && better_of_two < kRealDrop * capacity_ && is_short) {
    set(better_of_two);
    known_ = true;
  } else if (is_short || !limited) {
    known_ = true;
    const double median = median_delivered();
    const double step = median < 0.97 * capacity_ && is_short ? 0.5 : 0.2;
    set(capacity_ + step * (median - capacity_));
  }
}

// What was delivered without a queue is capacity, also where C says less because a pause or a bad minute lowered it:
// live alone may be more than that, and growing by a few parts in a thousand would take minutes. Less the noise of
// counting, which would ratchet the estimate up.
void CapacityEstimate::believe_delivered(const Window& w) {
  if (!w.counts || w.pressure >= kCalm || delivered_.size() < kWindows) return;
  const double median = median_delivered();
  set(std::max(capacity_, median - kNoise * std::sqrt(median)));
}

void CapacityEstimate::remember_best(const Window& w) {
  if (!w.counts || w.pressure >= 1 || delivered_.size() < kWindows) return;
  const double median = median_delivered();
  if (median < best_ && w.t - best_at_ <= kRemembersS) return;
  best_ = median;
  best_at_ = w.t;
}

void CapacityEstimate::grow(const Window& w) {
  if (w.sent_earlier < kFullyUsed * capacity_ * (1 - w.room) || w.pressure >= kCalm) return;
  const bool returns = w.t - best_at_ <= kRemembersS && capacity_ < kReturnTo * best_;
  const double calm_for = (w.t - queue_seen_) / (returns ? kReturnRampS : kGrowthRampS);
  const double growth = known_ ? std::min(kFastestGrowth, kGrowth * (1 + calm_for * calm_for)) : kSlowStartGrowth;
  capacity_ *= 1 + growth / w.dead_time_s;
}

void CapacityEstimate::on_window(const Window& w) {
  before_ = capacity_;
  if (w.counts) {
    delivered_.push_back(w.delivered);
    sent_.push_back(w.sent_earlier);
    if (delivered_.size() > kWindows) {
      delivered_.pop_front();
      sent_.pop_front();
    }
  }
  remember_best(w);
  if (w.saturated) {
    follow_queue(w);
  } else if (w.may_grow) {
    grow(w);
    believe_delivered(w);
  }
  if (!w.may_grow) capacity_ = std::min(capacity_, before_);
}

}  // namespace spillway::governor
