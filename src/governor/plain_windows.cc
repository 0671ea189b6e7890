#include "governor/plain_windows.h"

#include <algorithm>
#include <utility>

namespace spillway::governor {

PlainWindows::PlainWindows(const std::vector<SignalSpec>& signals) : signals_(signals) {
  for (const SignalSpec& signal : signals_) validators_.emplace_back(signal);
}

std::optional<PlainWindows::Window> PlainWindows::next(base::Instant now, const TickInputs& in) {
  for (const SignalSample& sample : in.samples) {
    if (sample.signal >= signals_.size()) continue;
    const SignalSpec& spec = signals_[sample.signal];
    const Missing missing = validators_[sample.signal].judge(now, sample, 0, 0);
    if (missing != Missing::kNone || sample.completions == 0) continue;
    if (!pending_) pending_ = Window{{CauseKind::kHealthy, spec.name, 0, 0, ""}, 0};
    pending_->mean_s = std::max(pending_->mean_s, sample.mean_s.value_or(0));
    const double errors = (sample.completions - sample.good) / sample.completions;
    if (sample.p99_s && *sample.p99_s > spec.latency_ceiling_s) {
      pending_->worst = {CauseKind::kLatency, spec.name, *sample.p99_s, spec.latency_ceiling_s, ""};
    } else if (errors > spec.error_ceiling) {
      pending_->worst = {CauseKind::kErrors, spec.name, errors, spec.error_ceiling, ""};
    }
  }
  if (!pending_ || (last_ && base::seconds(base::elapsed(*last_, now)) < 0.99)) return std::nullopt;
  last_ = now;
  return std::exchange(pending_, std::nullopt);
}

}  // namespace spillway::governor
