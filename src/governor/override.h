// A person's limit on the governor. It always ends by itself.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace spillway::governor {

constexpr base::Duration kDefaultOverride = std::chrono::minutes(15);
constexpr base::Duration kLongestOverride = std::chrono::hours(24);

struct Override {
  double max_total = 0;  // events/s, live and backlog together; live itself is never held by it
  base::Instant until;
  std::string reason;
};

// Misconfigured where the rate is negative, the reason is empty, or the time is not within (0, 24 h].
base::Result<Override> make_override(base::Instant now, double max_total, base::Duration lasts, std::string reason);

// The override that is in force, if any.
class OverrideSlot {
 public:
  void set(Override limit) { current_ = std::move(limit); }
  void clear() { current_.reset(); }

  // Drops what has expired.
  const std::optional<Override>& at(base::Instant now);

 private:
  std::optional<Override> current_;
};

}  // namespace spillway::governor
