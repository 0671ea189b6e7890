// A law turns what is known each tick into a decision. The daemon and the simulator use the same objects.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "governor/decision.h"
#include "governor/signal.h"

namespace spillway::governor {

enum class LawKind { kAdaptive, kAimd, kGradient, kFixed, kUnlimited };
const char* to_string(LawKind kind);
base::Result<LawKind> parse_law(std::string_view name);

struct GovernorSpec {
  LawKind law = LawKind::kAdaptive;
  double min = 50;                        // events/s, live and backlog together
  std::optional<double> max;              // events/s
  double backlog_min = 0;                 // events/s, what the backlog gets even where live takes all
  double aimd_increase = 50;              // events/s per second
  double aimd_decrease = 0.5;             // factor
  double fixed_rate = 0;                  // events/s, law `fixed` and observing
  bool observe = false;                   // compute and report, send the backlog at fixed_rate
  bool hold_live = true;                  // the brake may hold live traffic while downstream has collapsed
  std::optional<double> stored_capacity;  // events/s, confirmed before a restart
  std::vector<SignalSpec> signals;
};

// Every fault in one error (misconfigured), one sentence each.
base::Status check(const GovernorSpec& spec);

struct TickInputs {
  double live_rate = 0;     // events/s offered by our live traffic
  double foreign_rate = 0;  // events/s of others, where the downstream's own counters show them
  double held_live = 0;     // live events waiting because of live_cap
  double sent_events = 0;   // sent since the previous tick, live included
  bool backlog_waiting = true;
  std::span<const SignalSample> samples = {};  // that arrived since the previous tick
};

// Single-threaded. `now` never goes back; a tick every 250 ms is meant, anything up to 1 s works.
class Law {
 public:
  virtual ~Law() = default;
  virtual Decision tick(base::Instant now, const TickInputs& in) = 0;
};

// `spec` has passed check(). Without signals the law is `unlimited`, and its cause says so.
std::unique_ptr<Law> make_law(const GovernorSpec& spec);

}  // namespace spillway::governor
