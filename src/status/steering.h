// What governor, signals and lanes of a running relay said lately: fed as it happens, shown in a status.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "governor/decision_log.h"
#include "governor/law.h"
#include "status/explanation.h"
#include "status/latency_trend.h"
#include "status/rate_meter.h"
#include "status/status.h"

namespace spillway::status {

// One thread; reads no clock.
class Steering {
 public:
  // Every tick of the governor. `held_at`: what a `hold` in force was fixed at, events/s.
  void decided(std::int64_t unix_micros, governor::LawKind law, const governor::Decision& decision,
               std::optional<double> held_at = {});
  // All signals as they are now, `climb` left empty; at least every five seconds.
  void heard(base::Instant now, std::vector<SignalView> signals);
  // At least once a second. `waiting`: live events that are in the outbox.
  void sent(base::Instant now, const LaneTotals& totals, const Waiting& waiting);

  // Fills in the governor, the signals and what concerns lanes, as far as they are known.
  void describe(base::Instant now, LiveFigures& live);
  Explanation explanation(const Subject& subject) const { return explain(subject, law_, log_); }
  const governor::DecisionLog& decisions() const { return log_; }

 private:
  struct Lanes {
    RateMeter live;
    RateMeter promoted;
    RateMeter backlog;
    LaneTotals totals;
    Waiting waiting;
  };

  governor::DecisionLog log_;
  governor::LawKind law_ = governor::LawKind::kUnlimited;
  std::optional<double> held_at_;
  std::vector<SignalView> signals_;
  std::map<std::string, LatencyTrend> trends_;
  std::optional<Lanes> lanes_;
};

}  // namespace spillway::status
