#include "app/override_follower.h"

#include <cmath>

namespace spillway::app {

bool OverrideFollower::follow(const std::optional<ports::Override>& limit, base::Instant said_at, double sending,
                              base::Instant now, governor::Governor& governor) {
  if (!limit) {
    if (!followed_) return false;
    governor.clear_override();
    followed_.reset();
    held_at_.reset();
    return true;
  }
  if (followed_ == limit->since_unix_micros) return false;
  const bool hold = !limit->max_total;
  const double allowed = governor.last().total_rate;
  const double max_total = !hold ? *limit->max_total : std::isfinite(allowed) ? allowed : sending;
  const auto made =
      governor::make_override(now, max_total, limit->remaining - base::elapsed(said_at, now), limit->reason);
  if (!made) return false;  // it has just ended
  governor.set_override(*made);
  followed_ = limit->since_unix_micros;
  held_at_ = hold ? std::optional(max_total) : std::nullopt;
  return true;
}

}  // namespace spillway::app
