#include "signals/latency_buckets.h"

#include <algorithm>
#include <cmath>

namespace spillway::signals {

void LatencyBuckets::add(const CumulativeCounts& counts, double scale) {
  CumulativeCounts more = counts;
  double largest = 0;
  for (auto& [bound, count] : more) {
    largest = std::max(largest, count * scale);
    count = largest;
  }
  if (counts_.empty()) {
    counts_ = std::move(more);
    return;
  }
  CumulativeCounts common;
  auto theirs = more.begin();
  for (const auto& [bound, count] : counts_) {
    while (theirs != more.end() && theirs->first < bound) ++theirs;
    if (theirs != more.end() && theirs->first == bound) common.emplace_back(bound, count + theirs->second);
  }
  counts_ = std::move(common);
}

std::optional<LatencyBuckets::Quantile> LatencyBuckets::quantile(double q) const {
  if (!usable() || total() <= 0) return std::nullopt;
  const double rank = q * total();
  double lower_bound = 0;
  double below = 0;
  for (const auto& [bound, count] : counts_) {
    if (std::isinf(bound)) break;
    if (count >= rank) {
      const double inside = count - below;
      if (inside <= 0 || bound <= 0) return Quantile{std::max(0.0, bound), false};
      return Quantile{lower_bound + (bound - lower_bound) * (rank - below) / inside, false};
    }
    lower_bound = std::max(0.0, bound);
    below = count;
  }
  return Quantile{lower_bound, true};
}

std::optional<double> LatencyBuckets::rough_mean() const {
  if (!usable() || total() <= 0) return std::nullopt;
  double sum = 0;
  double lower_bound = 0;
  double below = 0;
  for (const auto& [bound, count] : counts_) {
    const double middle = std::isinf(bound) ? lower_bound : (lower_bound + std::max(0.0, bound)) / 2;
    sum += middle * (count - below);
    below = count;
    if (!std::isinf(bound)) lower_bound = std::max(0.0, bound);
  }
  return sum / total();
}

}  // namespace spillway::signals
