#include "governor/decision_log.h"

namespace spillway::governor {
namespace {

// Less is the smoothing of the live rate, not a decision.
constexpr double kNoticeable = 0.001;

Action action_of(const std::optional<LoggedDecision>& before, const Decision& now) {
  if (now.live_cap) return Action::kBrake;
  if (now.state == State::kBlind) return Action::kFreeze;
  if (!before) return Action::kKeep;
  const double was = before->decision.total_rate;
  if (now.total_rate > was * (1 + kNoticeable)) return Action::kRaise;
  if (now.total_rate < was * (1 - kNoticeable)) return Action::kLower;
  return Action::kKeep;
}

bool differ(const Decision& a, const Decision& b) {
  return a.state != b.state || a.cause.kind != b.cause.kind || a.cause.signal != b.cause.signal;
}

}  // namespace

const char* to_string(Action action) {
  switch (action) {
    case Action::kRaise: return "raise";
    case Action::kLower: return "lower";
    case Action::kKeep: return "keep";
    case Action::kFreeze: return "freeze";
    case Action::kBrake: return "brake";
  }
  return "unknown";
}

bool DecisionLog::observe(std::int64_t unix_micros, const Decision& decision) {
  const bool changed = !latest_ || differ(latest_->decision, decision);
  latest_ = LoggedDecision{unix_micros, action_of(latest_, decision), decision};
  ++counts_[{latest_->action, decision.cause.kind}];
  if (!changed) return false;
  changes_.push_back(*latest_);
  if (changes_.size() > kKept) changes_.pop_front();
  return true;
}

std::optional<std::int64_t> DecisionLog::since_unix_micros() const {
  if (changes_.empty()) return std::nullopt;
  return changes_.back().unix_micros;
}

}  // namespace spillway::governor
