#include "governor/decision.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>

namespace spillway::governor {

const char* to_string(State state) {
  switch (state) {
    case State::kIdle: return "idle";
    case State::kSlowStart: return "slow_start";
    case State::kTracking: return "tracking";
    case State::kBackingOff: return "backing_off";
    case State::kBlind: return "blind";
    case State::kBraking: return "braking";
    case State::kManual: return "manual";
  }
  return "unknown";
}

const char* to_string(CauseKind kind) {
  switch (kind) {
    case CauseKind::kStart: return "start";
    case CauseKind::kGrowing: return "growing";
    case CauseKind::kQueue: return "queue";
    case CauseKind::kLatency: return "latency";
    case CauseKind::kErrors: return "errors";
    case CauseKind::kLag: return "lag";
    case CauseKind::kThrottled: return "throttled";
    case CauseKind::kErrorsNotLoad: return "errors_not_load";
    case CauseKind::kLiveTakesAll: return "live_takes_all";
    case CauseKind::kSignalMissing: return "signal_missing";
    case CauseKind::kPartialSignal: return "partial_signal";
    case CauseKind::kCollapsed: return "collapsed";
    case CauseKind::kStopped: return "stopped";
    case CauseKind::kReleasing: return "releasing";
    case CauseKind::kFloor: return "floor";
    case CauseKind::kMaximum: return "maximum";
    case CauseKind::kOverride: return "override";
    case CauseKind::kObserving: return "observing";
    case CauseKind::kNoSignals: return "no_signals";
    case CauseKind::kFixed: return "fixed";
    case CauseKind::kUnlimited: return "unlimited";
    case CauseKind::kHealthy: return "healthy";
  }
  return "unknown";
}

namespace {

std::string rate(double events_per_s) {
  if (!std::isfinite(events_per_s)) return "unlimited";
  std::string digits = std::to_string(std::llround(events_per_s));
  for (std::ptrdiff_t at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits + "/s";
}

std::string milliseconds(double s) { return fmt::format("{} ms", std::llround(s * 1000)); }

std::string percent(double share) { return fmt::format("{:.3g} %", share * 100); }

std::string latency(const Cause& c) {
  return fmt::format("{} p99 {} {} {}", c.signal, milliseconds(c.value), c.value >= c.limit ? ">=" : "near",
                     milliseconds(c.limit));
}

std::string reason(const Decision& d) {
  const Cause& c = d.cause;
  switch (c.kind) {
    case CauseKind::kStart: return "starting a little above live traffic, nothing measured yet";
    case CauseKind::kGrowing: return fmt::format("{} shows no queue at the allowed rate, trying more", c.signal);
    case CauseKind::kQueue:
      return fmt::format("{} keeps a queue of {} (aim {}): capacity is {}", c.signal, milliseconds(c.value),
                         milliseconds(c.limit), rate(d.capacity));
    case CauseKind::kLatency: return latency(c);
    case CauseKind::kErrors:
      return fmt::format("{} errors {}, ceiling {}", c.signal, percent(c.value), percent(c.limit));
    case CauseKind::kLag:
      return fmt::format("events wait {} in front of {}, limit {}", milliseconds(c.value), c.signal,
                         milliseconds(c.limit));
    case CauseKind::kThrottled:
      return fmt::format("{} asked us to wait (Retry-After), at most {} until then", c.signal, rate(c.limit));
    case CauseKind::kErrorsNotLoad:
      return fmt::format("{} errors {} did not fall after two cuts: not caused by load, not cutting for them", c.signal,
                         percent(c.value));
    case CauseKind::kLiveTakesAll: return fmt::format("live traffic uses all of {}", rate(c.limit));
    case CauseKind::kSignalMissing:
      return fmt::format("no usable signal from {} for {:.0f} s ({}): never up while blind", c.signal, c.value,
                         c.detail);
    case CauseKind::kPartialSignal: return fmt::format("only some targets of {} answer: not going up", c.signal);
    case CauseKind::kCollapsed:
      return fmt::format("downstream has collapsed ({} errors {}): live is held in the outbox, probes of {} only",
                         c.signal, percent(c.value), rate(d.total_rate));
    case CauseKind::kStopped:
      return fmt::format("{} completes nothing: live is held in the outbox, probes of {} only", c.signal,
                         rate(d.total_rate));
    case CauseKind::kReleasing:
      return fmt::format("downstream is back: held live traffic goes first ({} waiting)", std::llround(c.value));
    case CauseKind::kFloor: return fmt::format("at governor.min {}", rate(c.limit));
    case CauseKind::kMaximum: return fmt::format("at governor.max {}", rate(c.limit));
    case CauseKind::kOverride: return fmt::format("set by hand to at most {}: {}", rate(c.limit), c.detail);
    case CauseKind::kObserving:
      return fmt::format("observing only, the law would allow {}: {}", rate(c.value), c.detail);
    case CauseKind::kNoSignals: return "no signals are configured, nothing to steer by";
    case CauseKind::kFixed: return "fixed by configuration";
    case CauseKind::kUnlimited: return "law unlimited";
    case CauseKind::kHealthy: return fmt::format("{} is below its ceilings", c.signal);
  }
  return "unknown";
}

}  // namespace

std::string text(const Decision& d) { return fmt::format("backlog {}: {}", rate(d.backlog_budget), reason(d)); }

}  // namespace spillway::governor
