#include "governor/validation.h"

#include <cmath>

namespace spillway::governor {

namespace {

constexpr double kEventsThatProveSilence = 20;
constexpr double kUnitSuspicion = 100;  // a mean this many times below its base

bool sound(double value) { return std::isfinite(value) && value >= 0; }

bool figures_sound(const SignalSample& s) {
  return sound(s.completions) && sound(s.good) && s.good <= s.completions && sound(s.lag_events) &&
         std::isfinite(s.window_s) && s.window_s > 0 && sound(s.mean_s.value_or(0)) && sound(s.p99_s.value_or(0)) &&
         sound(s.retry_after_s.value_or(0));
}

}  // namespace

// A live histogram does not yield the same three figures twice in a row; a gauge whose writer died does.
bool SampleValidator::repeats_itself(const SignalSample& sample) {
  const double mean = sample.mean_s.value_or(-1);
  const double p99 = sample.p99_s.value_or(-1);
  const bool same = sample.completions >= kEventsThatProveSilence && mean >= 0 &&
                    sample.completions == last_completions_ && mean == last_mean_s_ && p99 == last_p99_s_;
  last_completions_ = sample.completions;
  last_mean_s_ = mean;
  last_p99_s_ = p99;
  return same;
}

Missing SampleValidator::judge(base::Instant now, const SignalSample& sample, double sent_earlier, double base_mean_s) {
  if (!figures_sound(sample)) return Missing::kNotANumber;
  if (seen_any_ && sample.covers_until <= newest_) return Missing::kBackInTime;
  if (base::seconds(base::elapsed(sample.covers_until, now)) > dead_time_s_ + 2) return Missing::kTooOld;
  seen_any_ = true;
  newest_ = sample.covers_until;
  if (!sample.source_moved) return Missing::kFrozen;
  if (repeats_itself(sample)) return Missing::kFrozen;
  if (sample.completions == 0) return sent_earlier >= kEventsThatProveSilence ? Missing::kNone : Missing::kIdle;
  if (base_mean_s > 0 && sample.completions >= kEventsThatProveSilence && sample.mean_s &&
      *sample.mean_s < base_mean_s / kUnitSuspicion) {
    return Missing::kImplausible;
  }
  return Missing::kNone;
}

}  // namespace spillway::governor
