// What the downstream takes when nobody waits: the smallest values of the last three minutes.
#pragma once

#include <deque>

#include "governor/signal_pool.h"

namespace spillway::governor {

// The least of the values added in the last `kept_s` seconds, in amortised constant time.
class SlidingMinimum {
 public:
  double add(double t, double value, double kept_s);
  void clear() { candidates_.clear(); }

 private:
  struct Candidate {
    double t;
    double value;
  };
  std::deque<Candidate> candidates_;
};

class Baseline {
 public:
  // Learns from full pools only; until there is one, from any.
  void learn(double t, const SignalPool::Summary& pool);

  // Forgets what was learnt and starts from `mean_s` and `p99_s`.
  void restart(double t, double mean_s, double p99_s);

  bool known() const { return known_; }
  double mean_s() const { return mean_s_; }  // 0 until something was learnt
  double p99_s() const { return p99_s_; }    // never below mean_s()

 private:
  void take(double t, double mean_s, double p99_s);

  SlidingMinimum means_;
  SlidingMinimum p99s_;
  bool known_ = false;
  double mean_s_ = 0;
  double p99_s_ = 0;
};

}  // namespace spillway::governor
