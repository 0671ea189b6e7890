// The estimate of what the downstream can deliver in total while it keeps its ceiling.
#pragma once

#include <deque>

namespace spillway::governor {

class CapacityEstimate {
 public:
  CapacityEstimate(double initial, double least) : capacity_(initial), least_(least) {}

  struct Window {
    double t = 0;  // seconds
    double dead_time_s = 1;
    double delivered = 0;     // events/s
    double sent_earlier = 0;  // events/s, in the window that `delivered` answers
    bool saturated = false;
    double pressure = 0;
    double room = 0;     // share of the capacity deliberately left free
    bool counts = true;  // delivered may be compared with sent_earlier
    bool may_grow = true;
  };
  void on_window(const Window& w);

  double value() const { return capacity_; }
  bool known() const { return known_; }  // false: slow start
  void set_known(bool known) { known_ = known; }
  void set(double capacity);
  void note_queue(double t) { queue_seen_ = t; }
  double queue_seen() const { return queue_seen_; }  // seconds

  // Only `share` of the growth of the last window counts.
  void keep_growth(double share);

  void forget_samples();

 private:
  bool short_of_offered() const;
  double median_delivered() const;
  void follow_queue(const Window& w);
  void grow(const Window& w);
  void believe_delivered(const Window& w);
  void remember_best(const Window& w);

  double capacity_;
  double least_;
  double before_ = 0;  // value before the last window
  bool known_ = false;
  double queue_seen_ = 0;  // when a queue was last seen
  double best_ = 0;        // the most that was delivered within the ceiling in the last 15 minutes, events/s
  double best_at_ = -1e9;
  std::deque<double> delivered_;
  std::deque<double> sent_;
};

}  // namespace spillway::governor
