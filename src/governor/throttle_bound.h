// 429 and 503 with Retry-After: a hard upper bound for as long as the downstream asked.
#pragma once

#include <optional>

namespace spillway::governor {

class ThrottleBound {
 public:
  // `delivered`: events/s that the window which carried the request completed in time.
  void on_request(double t, double retry_after_s, double delivered) {
    rate_ = active(t) ? (delivered < rate_ ? delivered : rate_) : delivered;
    const double until = t + retry_after_s;
    if (until > until_) until_ = until;
  }

  std::optional<double> at(double t) const { return active(t) ? std::optional(rate_) : std::nullopt; }

 private:
  bool active(double t) const { return t < until_; }

  double until_ = -1;
  double rate_ = 0;
};

}  // namespace spillway::governor
