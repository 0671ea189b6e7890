// Netflix' Gradient2 concurrency limit (concurrency-limits, Gradient2Limit.java) turned into a rate: the ratio of
// long-term to present latency, with room for a queue of the square root of the rate.
#pragma once

#include "governor/law.h"
#include "governor/plain_windows.h"

namespace spillway::governor {

class GradientLaw final : public Law {
 public:
  explicit GradientLaw(GovernorSpec spec);

  Decision tick(base::Instant now, const TickInputs& in) override;

 private:
  void learn(const PlainWindows::Window& window);

  GovernorSpec spec_;
  PlainWindows windows_;
  bool begun_ = false;
  double total_ = 0;
  double long_mean_s_ = 0;
  double windows_seen_ = 0;
  Cause cause_;
  State state_ = State::kSlowStart;
};

}  // namespace spillway::governor
