// What status and metrics show of a signal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/choices.h"

namespace spillway::signals {

enum class SignalState {
  kStarting,  // no sample yet, and it is too early to wonder
  kOk,        // below its ceilings
  kOver,      // at a ceiling or above
  kPartial,   // some targets or partitions are missing: it may lower the rate, not raise it
  kMissing,   // no sample, or the newest is older than dead time + 2 s
};

constexpr std::string_view to_string(SignalState state) {
  switch (state) {
    case SignalState::kStarting: return "starting";
    case SignalState::kOk: return "ok";
    case SignalState::kOver: return "over";
    case SignalState::kPartial: return "partial";
    case SignalState::kMissing: return "missing";
  }
  return "missing";
}

struct SignalFigures {
  std::string name{};
  config::SignalKind kind = config::SignalKind::kPrometheus;
  SignalState state = SignalState::kStarting;
  // Of the newest sample, however old it is.
  std::optional<double> p99_s{};
  std::optional<double> error_rate{};   // 0 to 1; empty where nothing completed
  std::optional<double> completions{};  // per second
  std::optional<double> lag_events{};   // kafka_lag
  std::optional<double> lag_s{};        // kafka_lag: what waits ÷ rate of consumption
  std::optional<double> age_s{};        // since the end of its window
  std::optional<double> ceiling_s{};    // of the latency, or of the lag
  std::optional<double> error_ceiling{};
  std::string trouble{};  // one line; empty: none
};

}  // namespace spillway::signals
