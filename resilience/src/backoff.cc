#include "spillway/resilience/backoff.h"

#include <cmath>

namespace spillway::resilience {

std::optional<SettingError> BackoffSettings::first_error() const {
  return SettingCheck("backoff")
      .time("base", base, Duration(1), kLongestTime)
      .real("factor", factor, 1.0, 100.0)
      .time("cap", cap, Duration(1), kLongestTime)
      .that(cap >= base, "cap", to_string(cap), "at least base, " + to_string(base))
      .first_error();
}

Duration backoff_ceiling(const BackoffSettings& settings, std::uint32_t retry) noexcept {
  const double exponent = retry == 0 ? 0.0 : static_cast<double>(retry - 1);
  const double ceiling = static_cast<double>(settings.base.count()) * std::pow(settings.factor, exponent);
  // Compared as floating point: an overflow to infinity is simply larger than the cap.
  if (!(ceiling < static_cast<double>(settings.cap.count()))) return settings.cap;
  return Duration(static_cast<Duration::rep>(ceiling));
}

Duration backoff_delay(const BackoffSettings& settings, std::uint32_t retry, double u) noexcept {
  const Duration ceiling = backoff_ceiling(settings, retry);
  if (settings.jitter == Jitter::kNone) return ceiling;
  const double delay = std::floor(u * static_cast<double>(ceiling.count()));
  return std::min(ceiling, Duration(static_cast<Duration::rep>(delay)));
}

}  // namespace spillway::resilience
