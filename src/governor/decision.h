// What the governor says each tick: how fast, and why.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"

namespace spillway::governor {

enum class State { kIdle, kSlowStart, kTracking, kBackingOff, kBlind, kBraking, kManual };
constexpr int kStates = 7;

// What binds the rate.
enum class CauseKind {
  kStart,          // nothing measured yet
  kGrowing,        // no queue seen at the allowed rate: more is tried
  kQueue,          // a queue stands: the delivered rate is the capacity
  kLatency,        // p99 near or over its ceiling
  kErrors,         // errors near or over their ceiling
  kLag,            // events wait in front of the consumers
  kThrottled,      // 429 or 503 with Retry-After
  kErrorsNotLoad,  // errors stay whatever the rate
  kLiveTakesAll,   // live traffic alone uses the capacity
  kSignalMissing,  // stale or broken: never up
  kPartialSignal,  // some targets do not answer: not up
  kCollapsed,      // answers too late: live is held, probes only
  kStopped,        // no answers at all: likewise
  kReleasing,      // recovered: held live goes first
  kFloor,          // governor.min
  kMaximum,        // governor.max
  kOverride,       // a person's limit
  kObserving,      // computed and logged, not obeyed
  kNoSignals,      // nothing to steer by
  kFixed,          // law `fixed`
  kUnlimited,      // law `unlimited`
  kHealthy,        // law `aimd` or `gradient`: below every ceiling
};
const char* to_string(CauseKind kind);
const char* to_string(State state);

struct Cause {
  CauseKind kind = CauseKind::kStart;
  std::string signal;  // owner; empty where no signal is concerned
  double value = 0;    // in the unit of the kind: seconds, a share, or events/s
  double limit = 0;    // likewise
  std::string detail;  // a person's reason, or why a sample does not count

  bool operator==(const Cause&) const = default;
};

struct Decision {
  double total_rate = 0;             // events/s, live included; infinite under `unlimited`
  double backlog_budget = 0;         // events/s for the backlog, >= 0
  std::optional<double> live_cap{};  // events/s for live; absent = never held
  State state = State::kSlowStart;
  Cause cause{};
  double capacity = 0;          // events/s, the estimate; 0 where the law has none
  double live_rate = 0;         // events/s offered, as the decision saw it
  double foreign_rate = 0;      // events/s that others send to the same downstream, likewise
  double in_flight_window = 0;  // events unacknowledged downstream at most; 0 = no limit
};

// One line for people: "backlog 0/s: live traffic uses all of 1,400/s".
std::string text(const Decision& decision);

}  // namespace spillway::governor
