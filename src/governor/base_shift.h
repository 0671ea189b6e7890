// Notices a service that became slower by itself: less is sent, and the supposed queue does not shrink.
#pragma once

namespace spillway::governor {

class BaseShift {
 public:
  struct Window {
    double t = 0;
    double queue_wait_s = 0;
    double load = 0;      // events/s that the window answers
    double capacity = 0;  // events/s
    double pressure = 0;
    bool saturated = false;
    double dead_time_s = 1;
  };

  // True once, when the base has to be learnt anew from the windows that follow. Never while the pressure is high.
  bool on_window(const Window& w);

 private:
  bool has_reference_ = false;
  double reference_wait_s_ = 0;
  double limited_since_ = -1;
};

}  // namespace spillway::governor
