#include "sim/oracle.h"

#include <algorithm>
#include <cmath>

#include "governor/predictor.h"
#include "governor/reading.h"

namespace spillway::sim {

namespace {

constexpr double kP99OfExponential = 4.605;  // ln 100, times the mean

double base_p99(const Scenario& s, double mean) {
  const DownstreamSpec& d = s.downstream;
  if (d.kind == DownstreamKind::kFifo && d.service == ServiceKind::kLognormal) {
    return mean * std::exp(2.326 * d.service_sigma - d.service_sigma * d.service_sigma / 2);
  }
  return kP99OfExponential * mean;
}

}  // namespace

OracleLaw::OracleLaw(const Scenario& scenario) : scenario_(scenario), dead_time_s_(scenario.dead_time_s()) {}

void OracleLaw::learn(const governor::SignalSample& sample) {
  const governor::GovernorSpec& spec = scenario_.governor;
  const governor::SignalSpec& signal = spec.signals.front();
  const double seen = std::max(0.0, t_ - dead_time_s_);
  const double capacity = std::max(1.0, scenario_.capacity(seen));
  const double mean = scenario_.service_mean_s(seen);
  const double p99 = base_p99(scenario_, mean);
  const double span = std::max(0.15 * signal.latency_ceiling_s, signal.latency_ceiling_s - p99);
  const double sent = sent_.over(t_ - dead_time_s_, t_ - dead_time_s_ + 1, capacity);
  if (sample.completions == 0) return watch_.on_silence(1, sent);
  governor::Reading r;
  const double errors = (sample.completions - sample.good) / sample.completions;
  r.lag_wait_s = sample.lag_events / std::max(1.0, sample.good);
  r.queue_wait_s = std::max(0.0, sample.mean_s.value_or(0) - mean) + r.lag_wait_s;
  r.standing_queue_s = 0.12 * span;
  r.standard_error_s = mean / std::sqrt(sample.completions);
  r.pressure = std::max({(sample.p99_s.value_or(0) - p99) / span, errors / signal.error_ceiling, r.lag_wait_s / span});
  watch_.on_window({.windows = 1,
                    .completions = sample.completions,
                    .sent_earlier = sent,
                    .error_ratio = errors,
                    .mean_s = sample.mean_s.value_or(0),
                    .p99_s = sample.p99_s.value_or(0),
                    .latency_ceiling_s = signal.latency_ceiling_s,
                    .base_mean_s = mean});
  headroom_.on_window({.t = t_,
                       .completions = sample.completions,
                       .delivered = sample.good,
                       .sent_earlier = sent,
                       .over_ceiling = sample.p99_s.value_or(0) > signal.latency_ceiling_s,
                       .tolerance = signal.tolerance});
  const double room = std::max(0.003 * (dead_time_s_ - 1), headroom_.value());
  double rate = governor::predicted_rate({.capacity = capacity,
                                          .room = room,
                                          .queue = r.queue_wait_s * sample.good,
                                          .wanted_queue = r.standing_queue_s * capacity,
                                          .sent_in_flight = sent_.over(t_ - dead_time_s_, t_, capacity),
                                          .dead_time_s = dead_time_s_,
                                          .saturated = r.saturated()});
  if (r.pressure >= 1) rate = std::min(rate, capacity * (1 - std::min(0.5, 0.03 + 0.05 * (r.pressure - 1))));
  total_ = std::clamp(rate, spec.min, spec.max.value_or(kNever));
  if (errors < 0.02 && brake_.phase() == governor::Brake::Phase::kRun) brake_.note_healthy(capacity);
}

governor::Decision OracleLaw::held(double live_rate, double held_live) const {
  governor::Decision d;
  const bool holding = brake_.phase() == governor::Brake::Phase::kHold;
  d.total_rate = holding ? brake_.probe_rate() : total_;
  d.live_cap = d.total_rate;
  d.backlog_budget = std::max(0.0, d.total_rate - live_rate - held_live);
  d.live_rate = live_rate;
  d.state = governor::State::kBraking;
  return d;
}

governor::Decision OracleLaw::tick(base::Instant now, const governor::TickInputs& in) {
  if (!begun_) {
    begun_ = true;
    origin_ = now;
    total_ = std::max(scenario_.capacity(0), scenario_.governor.min);
  }
  t_ = base::seconds(base::elapsed(origin_, now));
  sent_.record(t_, in.sent_events);
  for (const governor::SignalSample& sample : in.samples) learn(sample);
  // It knows the capacity without any signal.
  if (!in.samples.empty()) heard_ = t_;
  if (t_ - heard_ > 1.5) {
    total_ = std::clamp(scenario_.capacity(std::max(0.0, t_ - dead_time_s_)), scenario_.governor.min,
                        scenario_.governor.max.value_or(kNever));
  }
  if (scenario_.governor.hold_live) {
    brake_.step({.t = t_,
                 .dead_time_s = dead_time_s_,
                 .trouble = watch_.stopped()            ? governor::Brake::Trouble::kStopped
                            : watch_.answers_too_late() ? governor::Brake::Trouble::kLate
                                                        : governor::Brake::Trouble::kNone,
                 .all_healthy = watch_.healthy(),
                 .median_completions = watch_.median_completions(),
                 .last_completions = watch_.last_completions(),
                 .capacity = scenario_.capacity(t_),
                 .held_live = in.held_live,
                 .live_rate = in.live_rate});
  }
  if (brake_.phase() != governor::Brake::Phase::kRun) return held(in.live_rate, in.held_live);
  governor::Decision d;
  d.total_rate = total_;
  d.backlog_budget = std::max(0.0, total_ - in.live_rate);
  d.live_rate = in.live_rate;
  d.state = governor::State::kTracking;
  d.capacity = scenario_.capacity(std::max(0.0, t_ - dead_time_s_));
  return d;
}

}  // namespace spillway::sim
