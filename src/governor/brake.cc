#include "governor/brake.h"

#include <algorithm>

namespace spillway::governor {

namespace {
constexpr double kAfterStop = 0.7;     // of the last healthy capacity: nothing was completed, so nothing is known
constexpr double kAfterLate = 0.9;     // of what it completed while late: that is its capacity
constexpr double kAfterRelapse = 0.7;  // of what it was believed to bear when it collapsed under held live
constexpr double kProbeShare = 0.05;
constexpr double kLeastProbe = 2;       // events/s
constexpr double kHeldIsNothing = 0.1;  // seconds of live
}  // namespace

// Never more than a service in ruins can do: half of what it completes.
void Brake::hold(const Inputs& in) {
  probe_rate_ = std::min(kProbeShare * release_capacity_, std::max(kLeastProbe, 0.5 * in.last_completions));
}

bool Brake::step(const Inputs& in) {
  bool released = false;
  if (phase_ == Phase::kHold) {
    if (in.t - held_at_ <= in.dead_time_s + 1 || !in.all_healthy) {
      hold(in);
      return false;
    }
    phase_ = Phase::kRelease;
    released_at_ = in.t;
    released = true;
  }
  if (!released && in.trouble != Trouble::kNone && in.t - released_at_ > in.dead_time_s + 1) {
    const double healthy = last_healthy_.value_or(in.capacity);
    release_capacity_ = in.trouble == Trouble::kStopped || in.median_completions <= 0
                            ? kAfterStop * healthy
                            : kAfterLate * in.median_completions;
    if (phase_ == Phase::kRelease) release_capacity_ = std::min(release_capacity_, kAfterRelapse * in.capacity);
    phase_ = Phase::kHold;
    reason_ = in.trouble;
    held_at_ = in.t;
    hold(in);
    return false;
  }
  if (phase_ == Phase::kRelease && in.held_live <= kHeldIsNothing * in.live_rate) phase_ = Phase::kRun;
  return released;
}

}  // namespace spillway::governor
