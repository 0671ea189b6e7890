// Watches one signal for a downstream that has collapsed or stopped, and for its return.
#pragma once

#include <deque>
#include <vector>

namespace spillway::governor {

inline constexpr double kHealthyErrors = 0.02;  // an error ratio below this says nothing
inline constexpr double kSilence = 0.05;        // completions below this share of what was sent

class CollapseWatch {
 public:
  struct Window {
    double windows = 1;       // seconds it stands for
    double completions = 0;   // per second
    double sent_earlier = 0;  // events/s
    double error_ratio = 0;
    double mean_s = 0;
    double p99_s = 0;
    double latency_ceiling_s = 0;
    double base_mean_s = 0;
  };
  void on_window(const Window& w);
  // Nothing was completed of `sent_earlier` events/s, though the source lives.
  void on_silence(double windows, double sent_earlier);

  bool answers_too_late() const { return late_ >= 2; }  // two windows: errors > 25 %, p99 >= ceiling
  bool stopped() const { return silent_ >= 3; }         // three windows: next to nothing completed
  bool healthy() const { return healthy_ >= 2; }        // two windows: no errors to speak of, no queue
  double median_completions() const;                    // of the last 4 windows, events/s; 0 where none
  double last_completions() const { return completions_.empty() ? 0 : completions_.back(); }

  // While braking: the mean and p99 of the last healthy probes, present where there were at least 20 of them.
  struct Probes {
    double mean_s;
    double p99_s;
    double count;
  };
  Probes probes() const;
  void start_hold();

 private:
  double late_ = 0;
  double silent_ = 0;
  double healthy_ = 0;
  std::deque<double> completions_;
  std::deque<Probes> probes_;
};

}  // namespace spillway::governor
