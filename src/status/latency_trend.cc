#include "status/latency_trend.h"

#include <algorithm>
#include <vector>

namespace spillway::status {
namespace {

constexpr base::Duration kMinute = std::chrono::minutes(1);
constexpr std::size_t kLeastSamples = 6;  // signals may come every 5 s

}  // namespace

void LatencyTrend::observe(base::Instant now, double ms) {
  if (!samples_.empty() && base::elapsed(samples_.back().at, now) < kSpacing) return;
  samples_.push_back({now, ms});
  while (base::elapsed(samples_.front().at, now) >= 3 * kMinute) samples_.pop_front();
}

std::optional<double> LatencyTrend::median(base::Instant now, int minutes_ago) const {
  std::vector<double> values;
  for (const Sample& sample : samples_) {
    if (base::elapsed(sample.at, now) / kMinute == minutes_ago) values.push_back(sample.ms);
  }
  if (values.size() < kLeastSamples) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<double> LatencyTrend::climb(base::Instant now) const {
  const auto first = median(now, 2);
  const auto second = median(now, 1);
  const auto third = median(now, 0);
  if (!first || !second || !third || *first <= 0) return std::nullopt;
  if (*second < *first * kRise || *third < *second * kRise) return std::nullopt;
  return *third / *first;
}

}  // namespace spillway::status
