// Carries the override that the store keeps to the governor of this process.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "governor/governor.h"
#include "ports/override.h"

namespace spillway::app {

class OverrideFollower {
 public:
  // `limit` is what the store said at `said_at`; may be called as often as one likes. `sending`: events/s that leave
  // now, which a hold is fixed at where the law has no limit of its own. Returns true where something changed.
  bool follow(const std::optional<ports::Override>& limit, base::Instant said_at, double sending, base::Instant now,
              governor::Governor& governor);

  // What the hold in force was fixed at, events/s; empty where there is none.
  const std::optional<double>& held_at() const { return held_at_; }

 private:
  std::optional<std::int64_t> followed_;  // by its time of birth
  std::optional<double> held_at_;
};

}  // namespace spillway::app
