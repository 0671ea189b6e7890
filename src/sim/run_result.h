// What one run gave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "governor/decision.h"

namespace spillway::sim {

// One second of virtual time, for charts and for the figures that count seconds.
struct SecondOfRun {
  float live_offered = 0;  // events/s
  float sent = 0;          // events/s, live and backlog
  float capacity = 0;      // events/s, the truth
  float estimate = 0;      // events/s, the law's; 0 where it has none
  float backlog = 0;       // events
  float held = 0;          // live events waiting in the outbox
  float delivered = 0;     // good answers/s
  float p99_s = 0;         // of all answers; 0 where there were none
  float live_p99_s = 0;    // likewise
  governor::State state = governor::State::kSlowStart;
};

struct RunResult {
  std::string scenario;
  std::string law;
  std::uint64_t seed = 0;
  std::optional<double> clear_s;
  std::optional<double> ideal_s;
  double seconds_over = 0;  // live p99 over the ceiling
  std::optional<double> oracle_seconds_over;
  double longest_hold_s = 0;  // of a live event in the outbox
  double worst_p99_s = 0;     // of live
  double live_p99_s = 0;
  std::optional<double> live_p99_alone_s;  // of the same downstream without backlog
  double attempts_per_event = 0;
  double events = 0;                        // unique, backlog and live
  double turns_per_minute = 0;              // direction changes of the total above 5 %
  std::optional<double> reconverge_down_s;  // after the first change of capacity: until the rate keeps within 10 %
  std::optional<double> reconverge_up_s;    // after the first rise
  double max_blind_rise = 0;  // events/s by which the backlog's budget exceeded its last healthy value while blind
  double left = 0;            // backlog that did not go
  bool recovered = false;     // cleared within 4 x ideal
  double wall_s = 0;
  double ceiling_s = 0;
  std::vector<SecondOfRun> seconds;

  std::optional<double> ratio() const {
    if (!clear_s || !ideal_s) return std::nullopt;
    return *clear_s / *ideal_s;
  }
};

}  // namespace spillway::sim
