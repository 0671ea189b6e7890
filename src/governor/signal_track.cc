#include "governor/signal_track.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spillway::governor {

namespace {

constexpr double kLeastSpan = 0.15;      // of the ceiling, however high the base
constexpr double kStandingQueue = 0.12;  // of the span
constexpr double kBearable = 0.35;       // of the way from the base to where the mean is no longer well
constexpr double kRelearnS = 10;
constexpr double kStaleAfterDeadTimeS = 2;

}  // namespace

SignalTrack::SignalTrack(SignalSpec spec) : spec_(std::move(spec)), validator_(spec_) {}

bool SignalTrack::stale(double t) const { return t - last_fresh_ > spec_.dead_time_s + kStaleAfterDeadTimeS; }

bool SignalTrack::current(double t) const { return t - last_fresh_ <= 1.5 * spec_.every_s + 0.5; }

SignalTrack::Verdict SignalTrack::take(const SignalSample& sample, const SentHistory& sent, const Context& context) {
  Verdict verdict;
  const double window = std::isfinite(sample.window_s) && sample.window_s > 0 ? sample.window_s : 1;
  const double from = context.t - std::max(spec_.dead_time_s, window);
  const double sent_events = sent.over(from, from + window, context.capacity);
  verdict.missing = validator_.judge(context.now, sample, sent_events, base_.mean_s());
  last_missing_ = verdict.missing;
  if (verdict.missing != Missing::kNone) return verdict;
  verdict.sent_earlier = sent_events / window;
  verdict.partial = sample.targets_answered < sample.targets_expected;
  if (sample.completions == 0) {
    verdict.zero = spec_.counts_events && !verdict.partial;
    return verdict;
  }
  Reading r = measure(sample, verdict.sent_earlier, context);
  r.counts = spec_.counts_events && !verdict.partial;
  last_fresh_ = context.t;
  last_ = r;
  verdict.reading = std::move(r);
  return verdict;
}

Reading SignalTrack::measure(const SignalSample& sample, double sent_earlier, const Context& context) {
  Reading r;
  r.signal = sample.signal;
  r.windows = std::max(1.0, std::round(sample.window_s));
  r.completions = sample.completions / sample.window_s;
  r.delivered = sample.good / sample.window_s;
  r.sent_earlier = sent_earlier;
  r.error_ratio = (sample.completions - sample.good) / sample.completions;
  r.latency_ceiling_s = spec_.latency_ceiling_s;
  r.tolerance = spec_.tolerance;
  r.lag_wait_s = sample.lag_events / std::max(1.0, r.delivered);
  double span = spec_.lag_ceiling_s > 0 ? spec_.lag_ceiling_s : spec_.latency_ceiling_s;
  if (sample.mean_s) {
    measure_latency(sample, context, r);
    span = std::max(kLeastSpan * spec_.latency_ceiling_s, spec_.latency_ceiling_s - base_.p99_s());
  }
  r.queue_wait_s += r.lag_wait_s;
  r.standing_queue_s = kStandingQueue * span;
  add_pressure(sample, span, context, r);
  if (pooled_ && context.learn) watch_base(r, *pooled_, context);
  return r;
}

void SignalTrack::measure_latency(const SignalSample& sample, const Context& context, Reading& r) {
  r.own_mean_s = *sample.mean_s;
  r.own_p99_s = sample.p99_s.value_or(*sample.mean_s);
  pooled_ = pool_.add(sample.completions, r.own_mean_s, r.own_p99_s);
  if (context.learn) base_.learn(context.t, *pooled_);
  r.base_mean_s = base_.mean_s();
  r.pooled_p99_s = pooled_->p99_s;
  r.standard_error_s = pooled_->standard_error;
  r.queue_wait_s = std::max(0.0, pooled_->mean_s - base_.mean_s());
}

void SignalTrack::add_pressure(const SignalSample& sample, double span_s, const Context& context, Reading& r) {
  if (sample.mean_s) {
    r.pressure = (r.pooled_p99_s - base_.p99_s()) / span_s;
    if (r.pooled_p99_s >= spec_.latency_ceiling_s) r.pressure = std::max(r.pressure, 1.0);
    const double width = well_below_s(spec_.latency_ceiling_s, r.base_mean_s) - r.base_mean_s;
    r.bearable_wait_s = kBearable * width;
    r.tail_free_pressure = (pooled_->mean_s - r.base_mean_s) / width;
  }
  const double by_lag = r.lag_wait_s / (spec_.lag_ceiling_s > 0 ? spec_.lag_ceiling_s : span_s);
  if (by_lag > r.pressure) {
    r.pressure = by_lag;
    r.source = PressureSource::kLag;
  }
  errors_.on_window({.t = context.t,
                     .error_ratio = r.error_ratio,
                     .error_ceiling = spec_.error_ceiling,
                     .load = r.sent_earlier,
                     .slow = r.pressure >= 0.5,
                     .dead_time_s = spec_.dead_time_s});
  const double by_errors = r.error_ratio / spec_.error_ceiling;
  r.tail_free_pressure = std::max(r.tail_free_pressure, by_lag);
  if (!errors_.independent_of_load()) r.tail_free_pressure = std::max(r.tail_free_pressure, by_errors);
  if (sample.retry_after_s) r.tail_free_pressure = std::max(r.tail_free_pressure, 1.0);
  if (by_errors > r.pressure && !errors_.independent_of_load()) {
    r.pressure = by_errors;
    r.source = PressureSource::kErrors;
  }
  if (sample.retry_after_s && r.pressure < 1) {
    r.pressure = 1;
    r.source = PressureSource::kThrottled;
  }
}

void SignalTrack::watch_base(const Reading& r, const SignalPool::Summary& pool, const Context& context) {
  if (relearn_until_ >= 0) {
    relearn_mean_s_ = std::min(relearn_mean_s_, pool.mean_s + pool.standard_error);
    relearn_p99_s_ = std::min(relearn_p99_s_, pool.p99_s);
    if (r.pressure > 0.75) relearn_until_ = -1;
    if (relearn_until_ >= 0 && context.t >= relearn_until_) {
      base_.restart(context.t, relearn_mean_s_, relearn_p99_s_);
      relearn_until_ = -1;
    }
    return;
  }
  if (!shift_.on_window({.t = context.t,
                         .queue_wait_s = r.queue_wait_s,
                         .load = r.sent_earlier,
                         .capacity = context.capacity,
                         .pressure = r.pressure,
                         .saturated = r.saturated(),
                         .dead_time_s = spec_.dead_time_s})) {
    return;
  }
  relearn_until_ = context.t + kRelearnS;
  relearn_mean_s_ = pool.mean_s + pool.standard_error;
  relearn_p99_s_ = pool.p99_s;
}

void SignalTrack::restart_after_collapse(double t, std::optional<double> mean_s, std::optional<double> p99_s) {
  pool_.clear();
  pooled_.reset();
  last_fresh_ = t;
  if (mean_s && p99_s) base_.restart(t, *mean_s, *p99_s);
}

}  // namespace spillway::governor
