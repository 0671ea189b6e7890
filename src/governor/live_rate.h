// The rate at which live traffic is offered, from counted arrivals.
#pragma once

namespace spillway::governor {

// Exponentially weighted over 2 s: short enough to follow traffic, long enough not to pass its noise on to the backlog.
class LiveRate {
 public:
  explicit LiveRate(double initial = 0) : rate_(initial) {}

  // `arrivals` in the `seconds` (> 0) since the previous call. Returns events/s.
  double add(double arrivals, double seconds);

  double value() const { return rate_; }

 private:
  double rate_;
};

}  // namespace spillway::governor
