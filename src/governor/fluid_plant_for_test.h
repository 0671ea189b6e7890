// A downstream of whole seconds for tests of the law: a rate, a queue, a base latency. No randomness but what keeps two
// windows from being equal to the last digit.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "governor/governor.h"

namespace spillway::governor {

inline GovernorSpec one_signal(double dead_time_s = 1) {
  GovernorSpec spec;
  spec.max = 3000;
  spec.signals.push_back({.name = "bank", .dead_time_s = dead_time_s});
  return spec;
}

inline base::Instant at(double seconds) {
  return base::Instant(base::Duration(static_cast<base::Duration::rep>(seconds * 1e9)));
}

// Holds a governor with one signal of dead time 1 s and lets both run, one second a step, four ticks a second.
class FluidLoop {
 public:
  explicit FluidLoop(const GovernorSpec& spec) : governor_(spec) {}

  double capacity = 2000;
  double live = 1200;
  double error_share = 0;  // whatever the load
  double base_mean_s = 0.05;
  double held = 0;
  bool lose_signal = false;
  bool tells_latency = true;
  bool backlog_waiting = true;
  std::optional<SignalSample> instead;  // arrives in place of the true sample
  std::optional<double> retry_after_s;
  std::uint32_t targets_answered = 1;

  // Runs `seconds`; keeps every decision in `decisions`.
  void run(int seconds) {
    for (int i = 0; i < seconds; ++i) second();
  }

  const Decision& last() const { return governor_.last(); }
  Governor& governor() { return governor_; }
  double now() const { return t_; }
  double sent_per_s() const { return sent_; }
  double queue() const { return queue_; }
  std::vector<Decision> decisions;

  // What a true sample would say for the second that just ended.
  SignalSample truth() {
    wobble_ = wobble_ == 0 ? 1 : 0;
    SignalSample s;
    s.covers_until = at(t_);
    s.completions = completed_;
    s.good = std::max(0.0, completed_ * (1 - error_share));
    if (completed_ > 0 && tells_latency) {
      s.mean_s = base_mean_s * (1 + 1e-6 * wobble_) + queue_ / capacity;
      s.p99_s = 4.6 * base_mean_s + queue_ / capacity;
    }
    s.retry_after_s = retry_after_s;
    s.targets_answered = targets_answered;
    return s;
  }

 private:
  void second() {
    std::vector<SignalSample> samples;
    if (t_ > 0 && instead) {
      samples.push_back(*instead);
      samples.back().covers_until = instead->covers_until == base::Instant{} ? at(t_) : instead->covers_until;
    } else if (t_ > 0 && !lose_signal) {
      samples.push_back(truth());
    }
    sent_ = 0;
    for (int tick = 0; tick < 4; ++tick) {
      const Decision& d = governor_.tick(at(t_ + 0.25 * tick), {.live_rate = live,
                                                                .held_live = held,
                                                                .sent_events = just_sent_,
                                                                .backlog_waiting = backlog_waiting,
                                                                .samples = samples});
      decisions.push_back(d);
      samples.clear();
      held += live / 4;
      const double live_now = std::min(held, d.live_cap.value_or(1e12) / 4);
      held -= live_now;
      just_sent_ = live_now + (backlog_waiting ? d.backlog_budget / 4 : 0);
      sent_ += just_sent_;
    }
    t_ += 1;
    completed_ = std::min(capacity, queue_ + sent_);
    queue_ += sent_ - completed_;
  }

  Governor governor_;
  double t_ = 0;
  double queue_ = 0;
  double sent_ = 0;
  double just_sent_ = 0;
  double completed_ = 0;
  int wobble_ = 0;
};

}  // namespace spillway::governor
