// Shorthand of the breaker tests: one letter a call, times in milliseconds.
#pragma once

#include <string_view>
#include <vector>

#include "spillway/resilience/circuit_breaker.h"

namespace spillway::resilience {

constexpr Instant ms(std::int64_t t) { return Instant(std::chrono::milliseconds(t)); }

// Makes the calls S (success), F (failure), I (ignored) at `now`, each taking `took`; spaces are skipped.
inline void play(CircuitBreaker& breaker, std::string_view calls, Instant now, Duration took = Duration::zero()) {
  for (const char c : calls) {
    if (c == ' ') continue;
    auto admission = breaker.try_acquire(now);
    const Outcome outcome = c == 'S' ? Outcome::kSuccess : c == 'F' ? Outcome::kFailure : Outcome::kIgnored;
    admission.permit.record(outcome, took, now);
  }
}

inline std::vector<Event> drained(EventQueue& events) {
  std::vector<Event> all;
  events.drain([&](const Event& event) { all.push_back(event); });
  return all;
}

inline std::size_t count(const std::vector<Event>& events, EventKind kind) {
  return static_cast<std::size_t>(std::ranges::count(events, kind, &Event::kind));
}

}  // namespace spillway::resilience
