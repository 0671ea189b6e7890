#include "status/steering.h"

#include <algorithm>
#include <utility>

#include "status/governor_view.h"

namespace spillway::status {

void Steering::decided(std::int64_t unix_micros, governor::LawKind law, const governor::Decision& decision,
                       std::optional<double> held_at) {
  law_ = law;
  held_at_ = held_at;
  log_.observe(unix_micros, decision);
}

void Steering::heard(base::Instant now, std::vector<SignalView> signals) {
  signals_ = std::move(signals);
  // Signals come and go with the configuration.
  std::erase_if(trends_, [&](const auto& trend) {
    return std::ranges::none_of(signals_, [&](const SignalView& signal) { return signal.name == trend.first; });
  });
  for (const SignalView& signal : signals_) {
    if (signal.measure_ms()) trends_[signal.name].observe(now, *signal.measure_ms());
  }
}

void Steering::sent(base::Instant now, const LaneTotals& totals, const Waiting& waiting) {
  if (!lanes_) lanes_.emplace();
  lanes_->totals = totals;
  lanes_->waiting = waiting;
  lanes_->live.observe(now, totals.live);
  lanes_->promoted.observe(now, totals.promoted);
  lanes_->backlog.observe(now, totals.backlog);
}

void Steering::describe(base::Instant now, LiveFigures& live) {
  if (log_.latest()) {
    live.governor = view_of(law_, log_.latest()->decision);
    live.governor.held_at = held_at_;
    live.governor.since_unix_micros = log_.since_unix_micros();
  }
  live.signals = signals_;
  for (SignalView& signal : live.signals) {
    if (const auto trend = trends_.find(signal.name); trend != trends_.end()) signal.climb = trend->second.climb(now);
  }
  if (!lanes_) return;
  live.sent = lanes_->totals;
  live.live = lanes_->waiting;
  live.rates.live = lanes_->live.per_second(now);
  live.rates.promoted = lanes_->promoted.per_second(now);
  live.rates.backlog = lanes_->backlog.per_second(now);
}

}  // namespace spillway::status
