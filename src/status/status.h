// Everything that is said about an outbox and its relay, in one value. JSON, text, metrics and the page show this.
//
// Empty = not known. A number that is known to be zero is zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "relay/outbound.h"
#include "relay/relay.h"
#include "status/eta.h"

namespace spillway::status {

struct Rates {  // events/s over the last ten seconds
  std::optional<double> arrival{};
  std::optional<double> live{};
  std::optional<double> promoted{};
  std::optional<double> backlog{};
  std::optional<double> published{};

  bool operator==(const Rates&) const = default;
};

// Events since the start of the process, by the lane that they went through.
struct LaneTotals {
  std::int64_t live = 0;
  std::int64_t promoted = 0;
  std::int64_t backlog = 0;

  bool operator==(const LaneTotals&) const = default;
};

struct GovernorView {
  std::string law = "unlimited";
  std::string state = "idle";           // idle | slow_start | tracking | backing_off | blind | braking | manual
  std::optional<double> capacity{};     // events/s; empty where the law has no estimate
  std::optional<double> budget{};       // events/s for the backlog; empty = not limited
  std::optional<double> total{};        // events/s, live included; empty = not limited
  std::optional<double> live_demand{};  // events/s that live traffic asks for
  std::optional<double> others{};       // events/s that others send to the same downstream; empty = none seen
  std::optional<double> live_cap{};     // events/s; empty = live is not held
  std::optional<double> held_at{};      // events/s that the relay fixed a `hold` at
  std::string cause{};                  // the name of what binds the rate; empty = no governor runs
  std::string reason{};                 // the same as one line
  std::optional<std::int64_t> since_unix_micros{};

  bool operator==(const GovernorView&) const = default;
};

struct SignalView {
  std::string name{};
  std::optional<double> p99_ms{};
  std::optional<double> error_rate{};  // 0..1
  std::optional<double> age_s{};       // since it last spoke; empty: it never did
  std::optional<double> ceiling_ms{};
  std::optional<double> lag_ms{};  // how long events wait in front of consumers; the ceiling is then that of the lag
  std::string state{};             // starting | ok | over | partial | missing
  std::string trouble{};           // why it does not speak, in one line; empty = none
  // What is compared with the ceiling: that of the last minute ÷ that of two minutes before; empty unless it rises.
  std::optional<double> climb{};

  // What is compared with the ceiling.
  const std::optional<double>& measure_ms() const { return p99_ms ? p99_ms : lag_ms; }

  bool operator==(const SignalView&) const = default;
};

struct Waiting {
  std::optional<std::int64_t> events{};
  std::optional<double> oldest_age_s{};

  bool operator==(const Waiting&) const = default;
};

// What only a running relay can say.
struct LiveFigures {
  std::string process{};  // host and process, as in the lease
  relay::RelayState state = relay::RelayState::kStandby;
  double turn_age_s = 0;  // since its loop last came round
  Rates rates{};
  std::optional<NetRange> net{};     // drain - arrival over five minutes
  Waiting live{};                    // of what waits, what is live; empty where the relay does not tell lanes apart
  std::optional<LaneTotals> sent{};  // likewise
  std::int64_t unfinished = 0;       // rows read and not finished
  std::int64_t in_flight = 0;
  std::int64_t in_flight_bytes = 0;
  bool held_by_ahead = false;  // reading stopped at limits.ahead
  std::vector<relay::StuckPartition> stuck{};
  GovernorView governor{};
  std::vector<SignalView> signals{};
  std::string store_error{};  // the last one that still stands; empty = none
  std::string sink_error{};   // likewise, of the broker
};

// What a caller knows about the outbox before anybody answered.
struct Subject {
  std::string outbox = "default";
  std::string store{};            // OutboxStore::describe
  bool signals_given = false;     // `signals:` has entries
  std::string relay_asked{};      // where a relay was asked for its figures; empty: nowhere
  std::string relay_no_answer{};  // why there was no answer; empty: it was not asked, or answered
};

// What the store said, and how long ago.
struct StoreFigures {
  std::optional<ports::Figures> figures{};
  double age_s = 0;
  std::string error{};  // why there are none, or why they are old
};

enum class RelayCondition : std::uint8_t {
  kNone,       // nobody holds the lease and nobody answers
  kSilent,     // the lease is held; its holder's HTTP does not answer, so only the store is known
  kFrozen,     // it answers or holds the lease, and nothing moves although something should
  kAnswering,  // as it says itself
};

enum class Severity : std::uint8_t { kWarning, kPage };

struct Alert {
  std::string name{};  // from a closed set, see alerts.h
  Severity severity = Severity::kWarning;
  std::string summary{};

  bool operator==(const Alert&) const = default;
};

struct Status {
  Subject subject{};
  StoreFigures store{};
  RelayCondition condition = RelayCondition::kNone;
  std::optional<LiveFigures> relay{};
  struct Backlog {
    std::optional<std::int64_t> events{};
    bool estimated = false;
    std::optional<double> oldest_age_s{};
    std::optional<std::int64_t> bytes{};
  } backlog{};
  Waiting live{};
  Rates rates{};
  Eta eta{};
  GovernorView governor{};
  std::vector<SignalView> signals{};
  std::vector<Alert> alerts{};  // pages first
  std::string cause{};          // the one line that explains the rest
};

// What `status` calls waiting too long for a relay that works: the age at which recovery begins.
constexpr double kLiveAgeS = 5;
// A loop that did not come round, or a place that was not saved with work at hand, for this long is frozen.
constexpr double kFrozenAfterS = 8;

inline bool loop_frozen(const Status& status) { return status.relay && status.relay->turn_age_s >= kFrozenAfterS; }

}  // namespace spillway::status
