// A few windows seen as one, so that a low rate does not read its own noise as a queue.
#pragma once

#include <deque>

namespace spillway::governor {

// The last windows until they hold 200 completions, at most 8.
class SignalPool {
 public:
  struct Summary {
    double completions;
    double mean_s;
    double p99_s;           // the newest window's own where it holds enough, else the median of the windows' values
    double standard_error;  // of the mean, taking the spread of a service time to be its mean
    bool full;
  };

  // `completions` > 0.
  Summary add(double completions, double mean_s, double p99_s);
  void clear() { windows_.clear(); }

 private:
  struct Window {
    double completions;
    double latency_sum_s;
    double p99_s;
  };

  std::deque<Window> windows_;
};

}  // namespace spillway::governor
