// The way out of a collapse that feeds itself: hold everything but probes until the downstream is well, then let live
// out first. An event held in the outbox is neither lost nor retried.
#pragma once

#include <optional>

namespace spillway::governor {

class Brake {
 public:
  enum class Phase { kRun, kHold, kRelease };
  enum class Trouble { kNone, kLate, kStopped };

  struct Inputs {
    double t = 0;
    double dead_time_s = 1;
    Trouble trouble = Trouble::kNone;
    bool all_healthy = false;       // every signal that counts events
    double median_completions = 0;  // events/s of the signal in trouble, late ones included
    double last_completions = 0;    // events/s
    double capacity = 0;            // events/s, stands in where none was ever healthy
    double held_live = 0;           // events
    double live_rate = 0;           // events/s
  };

  // Moves between the phases. True: it has just released, and the law starts again at release_capacity().
  bool step(const Inputs& in);

  Phase phase() const { return phase_; }
  Trouble reason() const { return reason_; }
  double probe_rate() const { return probe_rate_; }              // events/s, live included, while holding
  double release_capacity() const { return release_capacity_; }  // events/s
  void note_healthy(double capacity) { last_healthy_ = capacity; }
  std::optional<double> last_healthy() const { return last_healthy_; }

 private:
  void hold(const Inputs& in);

  Phase phase_ = Phase::kRun;
  Trouble reason_ = Trouble::kNone;
  double held_at_ = -1e9;
  double released_at_ = -1e9;
  double release_capacity_ = 0;
  double probe_rate_ = 0;
  std::optional<double> last_healthy_;
};

}  // namespace spillway::governor
