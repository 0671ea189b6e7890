// What the governor decided lately, for people and for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "governor/decision_log.h"
#include "governor/law.h"
#include "status/status.h"

namespace spillway::status {

struct ExplainedDecision {
  std::int64_t unix_micros = 0;
  std::string action{};  // raise | lower | keep | freeze | brake
  std::string state{};
  std::string cause{};   // the name of what bound the rate
  std::string signal{};  // whose; empty where none is concerned
  double value = 0;
  double limit = 0;
  std::string unit{};             // of both: s, share, events/s, events; empty where the cause has no figures
  std::optional<double> total{};  // events/s, live included; empty = not limited
  std::optional<double> backlog{};
  double live = 0;
  std::optional<double> live_cap{};
  double capacity = 0;  // events/s; 0 where the law has no estimate
  std::string text{};   // one line

  bool operator==(const ExplainedDecision&) const = default;
};

struct Explanation {
  std::string outbox{};
  std::string store{};
  std::string law{};
  std::vector<ExplainedDecision> changes{};  // oldest first
  std::optional<ExplainedDecision> latest{};

  bool operator==(const Explanation&) const = default;
};

Explanation explain(const Subject& subject, governor::LawKind law, const governor::DecisionLog& log);

std::string to_json(const Explanation& explanation);
// What to_json wrote, fields of other releases ignored. kRejected where it is something else.
base::Result<Explanation> explanation_from_json(std::string_view text);

// A line a change, the newest last; then what is decided now.
std::string to_text(const Explanation& explanation);

}  // namespace spillway::status
