// What the governor decided lately: the changes of state or cause, not every tick.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "governor/decision.h"

namespace spillway::governor {

// What a decision does to the rate, against the one before.
enum class Action { kRaise, kLower, kKeep, kFreeze, kBrake };
constexpr int kActions = 5;
const char* to_string(Action action);

struct LoggedDecision {
  std::int64_t unix_micros = 0;
  Action action = Action::kKeep;
  Decision decision;
};

// Single-threaded; reads no clock.
class DecisionLog {
 public:
  static constexpr std::size_t kKept = 200;

  // Every tick. True where state or cause is another than before.
  bool observe(std::int64_t unix_micros, const Decision& decision);

  // Oldest first: each the first decision of its state and cause.
  const std::deque<LoggedDecision>& changes() const { return changes_; }
  // The newest decision, changed or not; empty before the first.
  const std::optional<LoggedDecision>& latest() const { return latest_; }
  // Since when state and cause are what they are.
  std::optional<std::int64_t> since_unix_micros() const;

  // Decisions since the start.
  using Counts = std::map<std::pair<Action, CauseKind>, std::uint64_t>;
  const Counts& counts() const { return counts_; }

 private:
  std::deque<LoggedDecision> changes_;
  std::optional<LoggedDecision> latest_;
  Counts counts_;
};

}  // namespace spillway::governor
