#include "governor/override.h"

#include <cmath>
#include <utility>

namespace spillway::governor {

base::Result<Override> make_override(base::Instant now, double max_total, base::Duration lasts, std::string reason) {
  const auto wrong = [](const char* sentence) { return base::fail(base::ErrorClass::kMisconfigured, sentence); };
  if (!std::isfinite(max_total) || max_total < 0) return wrong("an override needs a rate of 0 or more events/s.");
  if (lasts <= base::Duration::zero()) return wrong("an override needs a time above 0, for example --for 30m.");
  if (lasts > kLongestOverride) return wrong("an override lasts 24h at most; set governor.max for longer.");
  if (reason.empty()) return wrong("an override needs a reason: --reason TEXT.");
  return Override{max_total, now + lasts, std::move(reason)};
}

const std::optional<Override>& OverrideSlot::at(base::Instant now) {
  if (current_ && now >= current_->until) current_.reset();
  return current_;
}

}  // namespace spillway::governor
