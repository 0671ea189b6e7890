#include "signals/relay_source.h"

#include <algorithm>
#include <limits>

namespace spillway::signals {
namespace {

constexpr auto kShortest = std::chrono::milliseconds(900);  // calls are never exactly a second apart
constexpr auto kLongestGap = std::chrono::seconds(5);

}  // namespace

void RelaySource::remember(base::Instant now, const PublishFigures& figures) {
  before_ = {now, {figures.counts.begin(), figures.counts.end()}, figures.sum_s};
  throttle_s_ = 0;
}

void RelaySource::publish(base::Instant now, const PublishFigures& figures) {
  const bool fits = before_ && std::ranges::equal(before_->counts, figures.counts, std::less_equal<>());
  if (!fits || base::elapsed(before_->at, now) > kLongestGap) return remember(now, figures);
  throttle_s_ = std::max(throttle_s_, figures.throttle_s);
  if (base::elapsed(before_->at, now) < kShortest) return;
  governor::SignalSample sample = window(now, figures);
  remember(now, figures);
  emit_(std::move(sample));
}

governor::SignalSample RelaySource::window(base::Instant now, const PublishFigures& figures) {
  governor::SignalSample sample{.covers_until = now, .window_s = base::seconds(base::elapsed(before_->at, now))};
  CumulativeCounts grown;
  double total = 0;
  for (std::size_t i = 0; i < figures.counts.size(); ++i) {
    total += static_cast<double>(figures.counts[i] - before_->counts[i]);
    grown.emplace_back(i < figures.bounds_s.size() ? figures.bounds_s[i] : std::numeric_limits<double>::infinity(),
                       total);
  }
  sample.completions = sample.good = total;
  if (throttle_s_ > 0) sample.retry_after_s = throttle_s_;
  LatencyBuckets latencies;
  latencies.add(grown);
  if (const auto p99 = latencies.quantile(0.99)) {
    sample.mean_s = std::max(0.0, figures.sum_s - before_->sum_s) / total;
    // Beyond the last bucket the truth is larger: not to be taken for health.
    sample.p99_s = p99->beyond ? std::max(p99->seconds, latency_ceiling_s_) : p99->seconds;
  }
  return sample;
}

std::string RelaySource::trouble(base::Instant now) const {
  if (!before_ || base::elapsed(before_->at, now) > kLongestGap) return "the relay gives no figures: it does not work";
  if (throttle_s_ > 0) return "the broker throttles by its quota";
  return {};
}

}  // namespace spillway::signals
