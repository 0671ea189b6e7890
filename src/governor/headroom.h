// Capacity left free on purpose: for slack while the pressure was high, and so that the ceiling is exceeded no more
// than the operator tolerates.
#pragma once

namespace spillway::governor {

// Shrinks the standing queue while the pressure stays high for two windows, gives it back when it is low.
class Trim {
 public:
  double on_window(double pressure, double dead_time_s);
  void restart(double value);
  double value() const { return value_; }  // [0.1, 1]

 private:
  double value_ = 1;
  double previous_pressure_ = 0;
};

// Integrates time above the ceiling against the tolerated share, so that on balance the two are equal.
class ToleranceHeadroom {
 public:
  struct Window {
    double t = 0;
    double completions = 0;   // per second
    double delivered = 0;     // events/s
    double sent_earlier = 0;  // events/s
    bool over_ceiling = false;
    bool backlog_sends = true;  // otherwise no room can help: live comes at its own rate
    double tolerance = 0.02;
  };
  void on_window(const Window& w);

  double value() const { return value_; }  // [0, 0.3], share of the capacity
  // How much of a growth of the capacity may count: growth and headroom would otherwise chase each other.
  double share_of_growth() const;

 private:
  double value_ = 0;
  double dip_at_ = -1e9;
};

}  // namespace spillway::governor
