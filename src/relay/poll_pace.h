// When to look for new rows again: at once while there are some, then after ever longer pauses up to the idle one.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace spillway::relay {

class PollPace {
 public:
  PollPace(base::Duration busy, base::Duration idle) : busy_(busy), idle_(std::max(busy, idle)), pause_(busy) {}

  void found_rows() { pause_ = busy_, due_ = {}; }
  void found_some_now_wait(base::Instant now) { pause_ = busy_, wait(now); }
  // The pause grows by an eighth a time: after a burst the relay stays quick for about as long as the burst lasted.
  void found_nothing(base::Instant now) {
    wait(now);
    pause_ = std::min(idle_, pause_ + pause_ / 8 + base::Duration(1));
  }
  // Rows may have arrived. A read that is under way may have begun before they did, so it does not settle the hint.
  void hint() { due_ = {}, pause_ = busy_, hinted_ = true; }
  // A read begins; what it finds comes by one of the above.
  void asked() { hinted_ = false; }

  bool due(base::Instant now) const { return now >= due_; }
  base::Instant next() const { return due_; }

 private:
  void wait(base::Instant now) { due_ = hinted_ ? base::Instant{} : now + pause_; }

  base::Duration busy_;
  base::Duration idle_;
  base::Duration pause_;
  base::Instant due_{};
  bool hinted_ = false;
};

}  // namespace spillway::relay
