// What the governor's last decision allows: whether one more row may leave now, and on whose share it goes.
#pragma once

#include <cstddef>

#include "base/time.h"
#include "governor/drain_pacer.h"
#include "relay/lane_tally.h"

namespace spillway::relay {

class Allowance {
 public:
  // Without limit until the first call.
  void apply(const governor::Decision& decision);
  void refill(base::Instant now);

  // Whether it may ever say no.
  bool limited() const { return limited_; }
  bool live_is_held() const { return live_is_held_; }
  // How many rows of backlog are worth reading at once, at most `most`; 0 while none may leave.
  std::size_t backlog_page(std::size_t most) const;

  // Whether a row may leave now, `in_flight` of them all being unanswered. `again`: it was let out before and came
  // back.
  bool may_go(Flow flow, bool again, std::size_t in_flight) const;
  // It left.
  void went(Flow flow, bool again);

 private:
  bool on_lives_share(Flow flow, bool again) const;

  governor::DrainPacer pacer_;
  bool limited_ = false;
  bool live_is_held_ = false;
  double backlog_rate_ = 0;  // events/s
  double window_ = 0;        // events that may be unanswered when one of the backlog leaves; 0 = no limit
};

}  // namespace spillway::relay
