#include "sim/signal_pipeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace spillway::sim {

base::Instant at_instant(double t) { return base::Instant(base::Duration(std::llround(t * 1e9))); }

void SignalPipeline::record(const Answer& answer) {
  const bool hidden = scenario_.queue_in_topic && !answer.refused;
  latencies_.push_back(static_cast<float>(hidden ? answer.in_service_s : answer.latency_s));
  if (answer.good) good_ += 1;
  if (answer.retry_after_s) retry_after_s_ = std::max(retry_after_s_.value_or(0), *answer.retry_after_s);
}

bool SignalPipeline::in(const std::vector<Span>& spans, double t) const {
  return std::any_of(spans.begin(), spans.end(), [&](const Span& s) { return s.contains(t); });
}

governor::SignalSample SignalPipeline::measure(double t, std::size_t waiting_in_topic) {
  governor::SignalSample sample;
  sample.covers_until = at_instant(t);
  sample.window_s = std::max(1.0, scenario_.signal.window_s);
  sample.completions = static_cast<double>(latencies_.size());
  sample.good = good_;
  sample.lag_events = static_cast<double>(waiting_in_topic);
  sample.retry_after_s = retry_after_s_;
  if (!latencies_.empty()) {
    const double sum = std::accumulate(latencies_.begin(), latencies_.end(), 0.0);
    sample.mean_s = sum / sample.completions;
    const auto p99 = latencies_.begin() + static_cast<std::ptrdiff_t>(0.99 * sample.completions);
    std::nth_element(latencies_.begin(), p99, latencies_.end());
    sample.p99_s = *p99;
  }
  latencies_.clear();
  good_ = 0;
  retry_after_s_.reset();
  return sample;
}

void SignalPipeline::spoil(double t, governor::SignalSample& sample) {
  const SignalFaults& faults = scenario_.signal;
  const double moment = t - 1e-6;  // a window belongs to the time before its end
  if (faults.noise > 0 && sample.mean_s) {
    const double factor = std::max(0.1, 1 + faults.noise * (2 * random_.uniform() - 1));
    sample.mean_s = *sample.mean_s * factor;
    sample.p99_s = *sample.p99_s * factor;
  }
  if (in(faults.frozen, moment) && previous_) {
    const base::Instant covers_until = sample.covers_until;
    sample = *previous_;
    sample.covers_until = covers_until;
  }
  if (in(faults.not_a_number, moment)) {
    sample.mean_s = std::numeric_limits<double>::quiet_NaN();
    sample.p99_s = sample.mean_s;
  }
  if (in(faults.wrong_unit, moment) && sample.mean_s) {
    sample.mean_s = *sample.mean_s / 1000;
    sample.p99_s = *sample.p99_s / 1000;
  }
  sample.targets_expected = static_cast<std::uint32_t>(faults.targets);
  sample.targets_answered = sample.targets_expected;
  if (faults.targets > 1 && in(faults.target_silent, moment)) {
    const double share = 1 - 1.0 / faults.targets;
    sample.targets_answered -= 1;
    sample.completions = std::floor(sample.completions * share);
    sample.good = std::min(sample.completions, std::floor(sample.good * share));
  }
}

void SignalPipeline::close_window(double t, std::size_t waiting_in_topic) {
  const SignalFaults& faults = scenario_.signal;
  governor::SignalSample sample = measure(t, waiting_in_topic);
  spoil(t, sample);
  previous_ = sample;
  if (faults.loss > 0 && random_.uniform() < faults.loss) return;
  const double late = faults.late > 0 && random_.uniform() < faults.late ? faults.late_by_s : 0;
  travelling_.push_back({t + faults.delay_s + late, sample});
}

std::vector<governor::SignalSample> SignalPipeline::due(double t) {
  std::vector<governor::SignalSample> arrived;
  const bool missing = in(scenario_.signal.missing, t);
  std::erase_if(travelling_, [&](const Travelling& item) {
    if (item.at > t + 1e-9) return false;
    if (!missing) arrived.push_back(item.sample);
    return true;
  });
  return arrived;
}

}  // namespace spillway::sim
