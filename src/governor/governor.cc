#include "governor/governor.h"

#include <algorithm>
#include <utility>

namespace spillway::governor {

Governor::Governor(const GovernorSpec& spec) : Governor(spec, make_law(spec)) {}

Governor::Governor(const GovernorSpec& spec, std::unique_ptr<Law> law) : spec_(spec), law_(std::move(law)) {}

base::Status Governor::hold(base::Instant now, base::Duration lasts, std::string reason) {
  auto limit = make_override(now, last_.total_rate, lasts, std::move(reason));
  if (!limit) return std::unexpected(limit.error());
  override_.set(std::move(*limit));
  return {};
}

void Governor::apply_observing(Decision& d) const {
  if (!spec_.observe) return;
  d.cause = {CauseKind::kObserving, d.cause.signal, d.total_rate, spec_.fixed_rate, to_string(d.cause.kind)};
  d.total_rate = spec_.fixed_rate;
  d.backlog_budget = std::max(0.0, spec_.fixed_rate - d.live_rate);
  d.live_cap.reset();
  d.state = State::kManual;
}

void Governor::apply_override(base::Instant now, Decision& d) {
  const auto& limit = override_.at(now);
  if (!limit || d.total_rate <= limit->max_total) return;
  d.total_rate = limit->max_total;
  d.backlog_budget = std::min(d.backlog_budget, std::max(0.0, limit->max_total - d.live_rate));
  if (d.state == State::kBraking || d.state == State::kBlind) return;
  d.state = State::kManual;
  d.cause = {CauseKind::kOverride, "", d.total_rate, limit->max_total, limit->reason};
}

// To a law, traffic of others is live traffic that is always sent. What it allows beyond that is ours.
Decision Governor::decide(base::Instant now, const TickInputs& in) {
  TickInputs all = in;
  all.live_rate += in.foreign_rate;
  if (last_tick_) all.sent_events += in.foreign_rate * base::seconds(base::elapsed(*last_tick_, now));
  last_tick_ = now;
  Decision d = law_->tick(now, all);
  d.total_rate = std::max(0.0, d.total_rate - in.foreign_rate);
  d.live_rate = in.live_rate;
  d.foreign_rate = in.foreign_rate;
  return d;
}

const Decision& Governor::tick(base::Instant now, const TickInputs& in) {
  Decision d = decide(now, in);
  apply_observing(d);
  apply_override(now, d);
  if (!in.backlog_waiting && d.state != State::kBraking && d.state != State::kBlind) d.state = State::kIdle;
  last_ = std::move(d);
  return last_;
}

}  // namespace spillway::governor
