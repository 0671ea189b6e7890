// Are errors caused by load? Those that stay after two cuts are not, and cutting for them only delays the drain.
#pragma once

namespace spillway::governor {

class ErrorCause {
 public:
  struct Window {
    double t = 0;  // seconds
    double error_ratio = 0;
    double error_ceiling = 0;
    double load = 0;    // events/s that the window answers
    bool slow = false;  // latency or queue is high as well: then load is a cause until shown otherwise
    double dead_time_s = 1;
  };

  void on_window(const Window& w);

  // True: errors did not fall although the load did, twice.
  bool independent_of_load() const { return independent_; }

 private:
  void forget();

  bool watching_ = false;
  bool independent_ = false;
  int cuts_without_effect_ = 0;
  double reference_errors_ = 0;
  double reference_load_ = 0;
  double judged_at_ = 0;
};

}  // namespace spillway::governor
