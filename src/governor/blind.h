// A signal is missing: the backlog may go on at most as fast as when it was lost, and ever slower.
#pragma once

#include <optional>

namespace spillway::governor {

class BlindFallback {
 public:
  // The rates that hold now are those that were healthy last. Repeated calls while blind change nothing.
  void enter(double t, double backlog_budget, double total_rate);
  void leave() { lost_.reset(); }
  bool active() const { return lost_.has_value(); }

  // events/s for the backlog at `t`, with `live_rate` events/s of live. Never above the budget at the time of the loss,
  // nor above what the total then left beside live.
  double budget(double t, double live_rate);
  double total_when_lost() const { return lost_ ? lost_->total : 0; }
  // Another signal, still seen, asks for less than what held when this one was lost.
  void limit_total(double total);

 private:
  struct Lost {
    double budget;
    double total;
    double decayed;
    double decayed_at;
  };
  std::optional<Lost> lost_;
};

// x0.93 a second, but never below 20/s for that reason alone. Shared with shares whose owner fell silent.
double decay(double rate, double seconds);

}  // namespace spillway::governor
