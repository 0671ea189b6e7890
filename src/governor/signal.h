// What the governor hears about a downstream: the description of a signal and one window of its measurements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace spillway::governor {

struct SignalSpec {
  std::string name;
  double dead_time_s = 1;          // from sending an event to its visible effect: path + measuring delay + window; >= 1
  double every_s = 1;              // how often a sample is due
  double latency_ceiling_s = 0.4;  // > 0; p99 of the downstream's answers
  double error_ceiling = 0.02;     // share of answers that may be errors, (0, 1]
  double lag_ceiling_s = 0;        // waiting in the topic may take this long; 0: the room below the latency ceiling
  double tolerance = 0.02;         // share of the time in which the ceiling may be exceeded
  double base_path_s = 0;          // time on the way without any queue, for the in-flight window
  bool counts_events = true;       // completions are events of ours; false for a probe
};

// One window. Histograms of several targets are merged before the percentile is taken. Shorter scrapes are merged into
// one second by the adapter; a longer window stands for as many seconds.
struct SignalSample {
  std::size_t signal = 0;              // index into GovernorSpec::signals
  base::Instant covers_until;          // end of the window
  double window_s = 1;                 // > 0
  double completions = 0;              // answers of any kind in the window
  double good = 0;                     // of these, delivered in time and without error
  std::optional<double> mean_s{};      // absent where nothing completed or the signal has no latency
  std::optional<double> p99_s{};       // likewise
  double lag_events = 0;               // waiting in front of the consumers at the end of the window
  bool source_moved = true;            // some series of the source changed since the previous sample
  std::uint32_t targets_answered = 1;  // fewer than expected: counts are partial
  std::uint32_t targets_expected = 1;
  std::optional<double> retry_after_s{};  // the longest Retry-After of a 429 or 503 in the window
};

// Why a sample counts as missing.
enum class Missing {
  kNone,
  kNotANumber,   // NaN, infinite or negative
  kBackInTime,   // not newer than the newest one seen
  kTooOld,       // covers a time longer ago than dead time + 2 s
  kFrozen,       // no series of the source moves, or the same figures come again and again
  kIdle,         // nothing completed, but hardly anything was sent either
  kImplausible,  // far below the signal's own base: a wrong unit
};

constexpr const char* to_string(Missing reason) {
  switch (reason) {
    case Missing::kNone: return "present";
    case Missing::kNotANumber: return "not a number";
    case Missing::kBackInTime: return "older than the one before";
    case Missing::kTooOld: return "too old";
    case Missing::kFrozen: return "frozen";
    case Missing::kIdle: return "idle";
    case Missing::kImplausible: return "implausibly small, a wrong unit?";
  }
  return "unknown";
}

}  // namespace spillway::governor
