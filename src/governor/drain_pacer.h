// Spends a decision: which live events and which of the backlog may leave now. Live never waits for a token unless the
// decision caps it.
#pragma once

#include "base/time.h"
#include "governor/decision.h"
#include "governor/pacing.h"

namespace spillway::governor {

class DrainPacer {
 public:
  void apply(const Decision& decision);
  void refill(base::Instant now);
  void pause_backlog() { backlog_.pause(); }

  // Whether one more may leave now.
  bool live_ready() const { return !live_capped_ || live_.ready(); }
  bool backlog_ready() const { return backlog_.ready(); }
  // Whole events that may leave now, at most `wanted`.
  long long take_live(long long wanted);
  long long take_backlog(long long wanted) { return backlog_.take(wanted); }

 private:
  Pacer live_;
  Pacer backlog_;
  bool live_capped_ = false;
  // The backlog fills up to the total whatever live does this instant, so that the sum is smoother than live alone.
  bool shares_total_ = false;
};

}  // namespace spillway::governor
