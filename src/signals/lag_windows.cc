#include "signals/lag_windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace spillway::signals {
namespace {

constexpr auto kWindow = std::chrono::milliseconds(900);  // answers are never exactly a second apart
constexpr auto kCommitPatience = std::chrono::seconds(6);
constexpr auto kRemembered = std::chrono::seconds(30);
constexpr auto kStandsStill = std::chrono::seconds(15);

}  // namespace

void LagWindows::look_at(base::Instant now, const kafka::GroupPartition& partition, double waiting) {
  if (!trouble_.empty()) return;
  if (partition.missing) {
    trouble_ = fmt::format("the broker knows no partition {} of topic {}; what the group committed there is left out",
                           partition.partition, partition.topic);
    return;
  }
  if (!partition.end) {
    trouble_ = fmt::format("partition {} of topic {}: {}", partition.partition, partition.topic, partition.trouble);
    return;
  }
  const base::Duration still = base::elapsed(progress_[{partition.topic, partition.partition}].moved_at, now);
  if (waiting > 0 && still >= kStandsStill) {
    trouble_ = fmt::format("partition {} of topic {} stands still for {:.0f} s with {} waiting", partition.partition,
                           partition.topic, base::seconds(still), waiting);
  } else if (waiting < 0) {
    trouble_ = fmt::format("partition {} of topic {} ends at {}, before the committed {}: was the topic made anew?",
                           partition.partition, partition.topic, *partition.end, partition.committed);
  }
}

// How many were taken since the answer before.
double LagWindows::take(base::Instant now, const std::vector<kafka::GroupPartition>& partitions) {
  trouble_ = partitions.empty() ? "the group has committed nothing: does it exist, is its name right?" : "";
  waiting_ = 0;
  known_ = expected_ = 0;
  double taken = 0;
  std::map<Place, Progress> seen;
  for (const kafka::GroupPartition& one : partitions) {
    const Place place{one.topic, one.partition};
    const auto before = progress_.find(place);
    Progress progress{one.committed, now};
    if (before != progress_.end()) {
      // A group that was set back has taken nothing by that.
      taken += static_cast<double>(std::max<std::int64_t>(0, one.committed - before->second.committed));
      if (one.committed == before->second.committed) progress.moved_at = before->second.moved_at;
    }
    progress_[place] = progress;
    seen[place] = progress;
    const double waiting = one.end ? static_cast<double>(*one.end - one.committed) : 0;
    look_at(now, one, waiting);
    if (one.missing) continue;  // a topic that was deleted keeps its commits for days
    ++expected_;
    if (one.end && waiting >= 0) ++known_;
    waiting_ += std::max(0.0, waiting);
  }
  progress_ = std::move(seen);
  return taken;
}

double LagWindows::rate(base::Instant now) const {
  if (commits_.size() < 2) return 0;
  const base::Instant last = commits_.back().at;
  const base::Duration since = base::elapsed(last, now);
  if (since >= kCommitPatience) return 0;
  double taken = 0;
  auto from = commits_.rbegin();
  while (from + 1 != commits_.rend() && base::elapsed(from->at, last) < kWindow) {
    taken += from->taken;
    ++from;
  }
  const base::Duration stretch = base::elapsed(from->at, last);
  const bool overdue = since > stretch * 3 / 2;
  return taken / base::seconds(std::max<base::Duration>(kWindow, overdue ? stretch + since : stretch));
}

std::optional<governor::SignalSample> LagWindows::answered(base::Instant now,
                                                           const std::vector<kafka::GroupPartition>& partitions) {
  const double taken = take(now, partitions);
  if (expected_ == 0) {
    window_from_.reset();
    commits_.clear();
    return std::nullopt;
  }
  if (!window_from_ || taken > 0) commits_.push_back({now, taken});
  while (commits_.size() > 2 && base::elapsed(commits_[1].at, now) > kRemembered) commits_.pop_front();
  if (!window_from_) {
    window_from_ = now;
    return std::nullopt;
  }
  const base::Duration window = base::elapsed(*window_from_, now);
  if (window < kWindow) return std::nullopt;
  governor::SignalSample sample{.covers_until = now, .window_s = base::seconds(window)};
  sample.completions = sample.good = std::max(1.0, rate(now)) * sample.window_s;
  sample.lag_events = waiting_;
  sample.targets_answered = known_;
  sample.targets_expected = expected_;
  window_from_ = now;
  return sample;
}

}  // namespace spillway::signals
