// Everything at once: writers with overlapping and rolled-back transactions while relay, broker and database are
// killed, frozen and cut off. Nothing may be lost, invented or inverted. SPILLWAY_TORTURE_SEED replays a run.
#pragma once

#include <chrono>
#include <cstdint>

namespace spillway::testing {

struct Torture {
  std::int64_t events;               // committed, at least
  int relay_kills;                   // with -9, each while it works
  std::chrono::seconds broker_away;  // once stopped, once frozen
};

// Fails the running test where something is wrong.
void torture(const Torture& torture);

}  // namespace spillway::testing
