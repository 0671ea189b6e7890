#include "signals/observed_source.h"

#include <fmt/format.h>

namespace spillway::signals {
namespace {

constexpr auto kEvery = std::chrono::seconds(1);

}  // namespace

ObservedSource::ObservedSource(runtime::Loop& loop, bool judges_latency, Emit emit)
    : judges_latency_(judges_latency),
      emit_(std::move(emit)),
      window_from_(runtime::Loop::now()),
      silent_since_(window_from_),
      ticker_(loop, kEvery, [this](base::Instant now) { close_window(now); }) {}

void ObservedSource::observe(const Observation& observation) {
  latencies_.add(observation.latency_s, observation.count);
  if (observation.ok) good_ += observation.count;
}

std::string ObservedSource::trouble(base::Instant now) const {
  if (!silent_) return {};
  return fmt::format("nothing was pushed for {:.0f} s", base::seconds(base::elapsed(silent_since_, now)));
}

void ObservedSource::close_window(base::Instant now) {
  const base::Duration window = base::elapsed(window_from_, now);
  if (window < kEvery / 2) return;  // the ticker's first call
  window_from_ = now;
  const bool silent = latencies_.count() <= 0;
  if (silent && !silent_) silent_since_ = now - window;
  silent_ = silent;
  if (silent) return;
  governor::SignalSample sample{.covers_until = now, .window_s = base::seconds(window)};
  sample.completions = latencies_.count();
  sample.good = good_;
  if (judges_latency_) {
    sample.mean_s = latencies_.mean_s();
    sample.p99_s = latencies_.quantile_s(0.99);
  }
  latencies_.clear();
  good_ = 0;
  emit_(std::move(sample));
}

}  // namespace spillway::signals
