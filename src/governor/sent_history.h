// How much was sent when: the governor compares what came back with what it sent one dead time earlier.
#pragma once

#include <deque>

namespace spillway::governor {

// Times are seconds since an origin of the owner's choice and never go back. Keeps the last 90 s.
class SentHistory {
 public:
  // `events` left between the previous call and `t`. The first call only sets the origin.
  void record(double t, double events);

  // Events sent in [from, to), by parts of a slice where a border cuts one. `unknown_rate` (events/s) stands in for
  // times before the first record, after the last, and beyond what is kept.
  double over(double from, double to, double unknown_rate) const;

 private:
  struct Slice {
    double from;
    double to;
    double events;
  };

  std::deque<Slice> slices_;
  double last_ = 0;
  bool started_ = false;
};

}  // namespace spillway::governor
