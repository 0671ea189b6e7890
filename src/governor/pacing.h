// Turns a rate into single events: tokens refilled every 10 to 50 ms, never more than 50 ms of rate at once, nothing
// saved up. A second's worth of events sent at once is itself an overload.
#pragma once

#include <cmath>

#include "base/time.h"

namespace spillway::governor {

class Pacer {
 public:
  // events/s from now on; infinite means that take() grants everything. Tokens of a higher rate are not kept.
  void set_rate(double events_per_s);

  // Adds what the time since the last refill is worth.
  void refill(base::Instant now);

  // While paused nothing is granted and nothing accrues.
  void pause();

  // Whole events that may leave now, at most `wanted`.
  long long take(long long wanted);
  // Whether take(1) would grant one.
  bool ready() const { return running_ && (std::isinf(rate_) || tokens_ >= 1); }
  // Events that left by another way on the same rate; the debt is worked off first, up to `most_debt_s` of rate.
  void charge(double events, double most_debt_s = 0.25);

  double tokens() const { return tokens_; }

 private:
  double burst() const;

  double rate_ = 0;
  double tokens_ = 0;
  bool running_ = false;
  base::Instant last_;
};

}  // namespace spillway::governor
