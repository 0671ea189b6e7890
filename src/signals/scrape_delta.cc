#include "signals/scrape_delta.h"

#include <algorithm>

namespace spillway::signals {
namespace {

// The same bounds, and nothing below what it was.
bool continues(const CumulativeCounts& before, const CumulativeCounts& now) {
  return std::ranges::equal(before, now,
                            [](const auto& a, const auto& b) { return a.first == b.first && a.second <= b.second; });
}

}  // namespace

ScrapeDelta difference(const Scrape& before, const Scrape& now) {
  ScrapeDelta delta;
  delta.latency_sum_s = 0;
  for (const auto& [labels, series] : now.histogram) {
    const auto earlier = before.histogram.find(labels);
    const bool known = earlier != before.histogram.end();
    const bool goes_on = known && continues(earlier->second.buckets, series.buckets);
    if (known && !goes_on) delta.reset = true;
    CumulativeCounts grown = series.buckets;
    double sum = series.sum.value_or(0);
    if (goes_on) {
      for (std::size_t i = 0; i < grown.size(); ++i) grown[i].second -= earlier->second.buckets[i].second;
      sum -= earlier->second.sum.value_or(0);
    }
    if (!series.sum || sum < 0 || (goes_on && !earlier->second.sum)) delta.latency_sum_s.reset();
    if (delta.latency_sum_s) *delta.latency_sum_s += sum;
    delta.completions += grown.back().second;
    delta.latencies.push_back(std::move(grown));
  }
  for (const auto& [labels, count] : now.errors) {
    const auto earlier = before.errors.find(labels);
    const bool known = earlier != before.errors.end();
    if (known && earlier->second > count) delta.reset = true;
    delta.errors += known && earlier->second <= count ? count - earlier->second : count;
  }
  return delta;
}

}  // namespace spillway::signals
