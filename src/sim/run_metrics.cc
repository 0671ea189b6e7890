#include "sim/run_metrics.h"

#include <algorithm>
#include <cmath>

namespace spillway::sim {

namespace {

float p99(std::vector<float>& values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

void RunMetrics::on_answer(const Answer& answer) {
  const auto latency = static_cast<float>(answer.latency_s);
  all_.push_back(latency);
  if (answer.good) second_.delivered += 1;
  if (answer.traffic != Traffic::kLive || answer.refused) return;
  live_.push_back(latency);
  live_total_.push_back(latency);
}

void RunMetrics::on_hold(double seconds) { longest_hold_s_ = std::max(longest_hold_s_, seconds); }

void RunMetrics::close_second(const SecondOfRun& state) {
  SecondOfRun s = state;
  s.sent = second_.sent;
  s.delivered = second_.delivered;
  s.p99_s = p99(all_);
  s.live_p99_s = p99(live_);
  seconds_.push_back(s);
  second_ = {};
  all_.clear();
  live_.clear();
}

void RunMetrics::count_turns(RunResult& result) const {
  double low = kNever;
  double high = 0;
  int direction = 0;
  int turns = 0;
  for (const SecondOfRun& s : seconds_) {
    const double rate = s.sent;
    low = std::min(low, rate);
    high = std::max(high, rate);
    const int turned = rate < 0.95 * high ? -1 : rate > 1.05 * low ? 1 : 0;
    if (turned == 0) continue;
    if (turned != direction && direction != 0) ++turns;
    direction = turned;
    (turned > 0 ? low : high) = rate;  // the extreme on the far side starts again here
  }
  result.turns_per_minute = seconds_.empty() ? 0 : 60.0 * turns / static_cast<double>(seconds_.size());
}

// The mean over five seconds, so that a short queue working itself off does not count as not being there yet.
void RunMetrics::find_reconvergence(double end, RunResult& result) const {
  const auto settles = [&](double from) -> std::optional<double> {
    const auto last = static_cast<std::size_t>(std::min(end, static_cast<double>(seconds_.size())));
    for (auto i = static_cast<std::size_t>(from); i + 5 <= last; ++i) {
      double sent = 0;
      for (std::size_t k = i; k < i + 5; ++k) sent += seconds_[k].sent / 5;
      if (std::abs(sent - seconds_[i].capacity) <= 0.1 * seconds_[i].capacity) return static_cast<double>(i) - from;
    }
    return std::nullopt;
  };
  double before = scenario_.capacity(0);
  for (const Change& change : scenario_.changes) {
    const double after = scenario_.capacity(change.at);
    if (after < before && !result.reconverge_down_s) result.reconverge_down_s = settles(change.at);
    if (after > before && !result.reconverge_up_s) result.reconverge_up_s = settles(change.at);
    before = after;
  }
}

void RunMetrics::finish(double end, RunResult& result) {
  const double ceiling = scenario_.governor.signals.front().latency_ceiling_s;
  const auto whole = static_cast<std::size_t>(std::max(0.0, end));
  for (std::size_t i = 0; i < std::min(whole, seconds_.size()); ++i) {
    if (seconds_[i].live_p99_s > ceiling) result.seconds_over += 1;
    result.worst_p99_s = std::max(result.worst_p99_s, static_cast<double>(seconds_[i].live_p99_s));
  }
  result.longest_hold_s = longest_hold_s_;
  result.live_p99_s = p99(live_total_);
  result.ceiling_s = ceiling;
  count_turns(result);
  find_reconvergence(end, result);
  result.seconds = std::move(seconds_);
}

}  // namespace spillway::sim
