#include "spillway/resilience/idempotency.h"

namespace spillway::resilience {

std::optional<SettingError> MemoryIdempotencySettings::first_error() const {
  return SettingCheck("memory_idempotency")
      .whole("capacity", capacity, 1, 100'000'000)
      .time("keep", keep, Duration(1), kLongestTime)
      .time("hold", hold, Duration(1), kLongestTime)
      .first_error();
}

}  // namespace spillway::resilience
