#include "signals/target_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "signals/scrape_delta.h"

namespace spillway::signals {
namespace {

constexpr double kLongestGapS = 5;
constexpr std::uint32_t kRecentWindows = 0x3ff;  // ten
constexpr int kRestartsOfOneTarget = 3;

}  // namespace

struct TargetWindows::Sum {
  LatencyBuckets latencies;
  double completions = 0;
  double errors = 0;
  std::optional<double> latency_sum_s = 0;
};

TargetWindows::TargetWindows(TargetWindowsSpec spec) : spec_(std::move(spec)), targets_(spec_.targets.size()) {
  for (Target& target : targets_) target.trouble = "was not asked yet";
}

void TargetWindows::begin_round(base::Instant at) {
  round_at_ = at;
  for (Target& target : targets_) target.now.reset();
}

void TargetWindows::answered(std::size_t index, base::Result<Scrape> scrape) {
  Target& target = targets_.at(index);
  target.trouble = scrape ? missing_names(*scrape, spec_.names) : scrape.error().message;
  if (target.trouble.empty()) target.now = std::move(*scrape);
}

bool TargetWindows::window_due() const {
  // Rounds are never exactly `every` apart.
  return base::elapsed(*window_from_, round_at_) >= std::chrono::seconds(1) - spec_.every / 10;
}

std::optional<governor::SignalSample> TargetWindows::end_round() {
  const bool any = std::ranges::any_of(targets_, [](const Target& t) { return t.now.has_value(); });
  if (!any) return std::nullopt;
  const double gap = window_from_ ? base::seconds(base::elapsed(*window_from_, round_at_)) : 0;
  if (!window_from_ || gap > std::max(kLongestGapS, 3 * base::seconds(spec_.every))) {
    for (Target& target : targets_) target.before.reset();
    start_window();
    return std::nullopt;
  }
  if (!window_due()) return std::nullopt;
  auto sample = close(gap);
  start_window();
  return sample;
}

void TargetWindows::start_window() {
  window_from_ = round_at_;
  for (Target& target : targets_) {
    if (!target.now) continue;
    target.before = std::move(target.now);
    target.before_at = round_at_;
    target.now.reset();
  }
}

// False where it does not count in this window; its trouble says why.
bool TargetWindows::count(Target& target, double window_s, Sum& sum) const {
  target.window_trouble.clear();
  if (!target.now) return false;
  if (!target.before) {
    target.window_trouble = "answers again, its figures count from the next window";
    return false;
  }
  const double span = base::seconds(base::elapsed(target.before_at, round_at_));
  if (span > 3 * window_s) {
    target.window_trouble = "answers again, its figures count from the next window";
    return false;
  }
  const ScrapeDelta delta = difference(*target.before, *target.now);
  target.restarts = ((target.restarts << 1) | (delta.reset ? 1 : 0)) & kRecentWindows;
  if (std::popcount(target.restarts) >= kRestartsOfOneTarget) {
    target.window_trouble = "goes back again and again: is the URL a load balancer? List its targets in urls";
    return false;
  }
  if (target.now->fingerprint == target.before->fingerprint) {
    target.window_trouble = "answers, but not one of its series moves";
    return false;
  }
  const double scale = window_s / span;
  for (const CumulativeCounts& counts : delta.latencies) sum.latencies.add(counts, scale);
  sum.completions += delta.completions * scale;
  sum.errors += delta.errors * scale;
  if (sum.latency_sum_s && delta.latency_sum_s) {
    *sum.latency_sum_s += *delta.latency_sum_s * scale;
  } else {
    sum.latency_sum_s.reset();
  }
  return true;
}

std::optional<governor::SignalSample> TargetWindows::close(double window_s) {
  Sum sum;
  governor::SignalSample sample;
  sample.covers_until = round_at_;
  sample.window_s = window_s;
  sample.targets_expected = static_cast<std::uint32_t>(targets_.size());
  sample.targets_answered = 0;
  for (Target& target : targets_) sample.targets_answered += count(target, window_s, sum) ? 1 : 0;
  const bool comparable = std::ranges::any_of(targets_, [](const Target& t) { return t.now && t.before; });
  if (!comparable) return std::nullopt;
  sample.source_moved = sample.targets_answered > 0;
  sample.completions = sum.completions;
  sample.good = std::clamp(sum.completions - sum.errors, 0.0, sum.completions);
  latency_trouble_.clear();
  if (spec_.latency_ceiling_s && sum.completions > 0) judge_latency(sum, sample);
  // Completions whose time nobody can tell are no measurement of latency.
  if (!latency_trouble_.empty() && !sample.p99_s) return std::nullopt;
  return sample;
}

void TargetWindows::judge_latency(const Sum& sum, governor::SignalSample& sample) {
  const auto p99 = sum.latencies.quantile(0.99);
  if (!p99) {
    latency_trouble_ = fmt::format("the buckets of {} have no bound in common", spec_.names.histogram);
    return;
  }
  sample.mean_s = sum.latency_sum_s ? *sum.latency_sum_s / sum.completions : *sum.latencies.rough_mean();
  sample.p99_s = p99->seconds;
  if (p99->beyond && p99->seconds < *spec_.latency_ceiling_s) {
    // The truth lies above the last bound, perhaps above the ceiling: not to be taken for health.
    sample.p99_s = *spec_.latency_ceiling_s;
    latency_trouble_ =
        fmt::format("p99 is beyond the last bucket, {} s: add buckets up to the ceiling of {} s, above which it counts",
                    p99->seconds, *spec_.latency_ceiling_s);
  }
}

std::string TargetWindows::trouble() const {
  const auto whole = std::ranges::count_if(targets_, [](const Target& t) { return t.any_trouble().empty(); });
  const auto broken = std::ranges::find_if(targets_, [](const Target& t) { return !t.any_trouble().empty(); });
  if (broken == targets_.end()) return latency_trouble_;
  if (targets_.size() == 1) return broken->any_trouble();
  const auto index = static_cast<std::size_t>(broken - targets_.begin());
  return fmt::format("{} of {} targets count: {} {}", whole, targets_.size(), spec_.targets[index],
                     broken->any_trouble());
}

}  // namespace spillway::signals
