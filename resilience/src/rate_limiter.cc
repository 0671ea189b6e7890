#include "spillway/resilience/rate_limiter.h"

namespace spillway::resilience {

std::optional<SettingError> RateLimitSettings::first_error() const {
  return SettingCheck("rate_limiter")
      .whole("calls", calls, 1, 1'000'000'000)
      .time("period", period, Duration(1), kLongestTime)
      .that(period.count() >= calls, "period", to_string(period), "at least 1ns for each of the calls")
      .whole("burst", burst, 1, calls)
      .time("max_wait", max_wait, Duration::zero(), kLongestTime)
      .first_error();
}

// The spacing is rounded up: the rate is never exceeded by rounding.
RateLimiter::RateLimiter(RateLimitSettings settings)
    : spacing_((checked(settings).period.count() + settings.calls - 1) / settings.calls),
      tolerance_(spacing_ * (settings.burst - 1)),
      max_wait_(settings.max_wait),
      next_(-kLongestTime.count() * 2) {}

}  // namespace spillway::resilience
