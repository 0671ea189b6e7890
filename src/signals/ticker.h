// Calls again and again, on a grid that does not drift; times that passed while the loop was busy are left out.
#pragma once

#include <functional>
#include <utility>

#include "runtime/loop.h"

namespace spillway::signals {

class Ticker {
 public:
  Ticker(runtime::Loop& loop, base::Duration every, std::function<void(base::Instant)> action)
      : every_(every), action_(std::move(action)), timer_(loop, [this] { fire(); }) {
    next_ = runtime::Loop::now();
    timer_.at(next_);
  }

 private:
  void fire() {
    const base::Instant now = runtime::Loop::now();
    next_ += every_ * (base::elapsed(next_, now) / every_ + 1);
    timer_.at(next_);
    action_(now);
  }

  base::Duration every_;
  base::Instant next_;
  std::function<void(base::Instant)> action_;
  runtime::Timer timer_;
};

}  // namespace spillway::signals
