// An answer for when there is none: the last good one, as long as it is not too old, and marked as such.
#pragma once

#include <concepts>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "spillway/resilience/setting_error.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

template <typename T>
struct StaleValue {
  T value;
  Duration age{};
};

// What a pipeline asks for a fallback. `recall` says how old the value is, or that there is none.
template <typename F, typename T>
concept FallbackSource = requires(F& source, const T& value, Instant now) {
  source.remember(value, now);
  { source.recall(now) } -> std::convertible_to<std::optional<StaleValue<T>>>;
};

struct LastGoodSettings {
  Duration staleness = std::chrono::seconds(30);  // an older value is no answer; 1 ns .. 10 years

  std::optional<SettingError> first_error() const {
    return SettingCheck("last_good").time("staleness", staleness, Duration(1), kLongestTime).first_error();
  }
};

// Keeps one value. Any thread; one short lock, under which T is copied.
template <typename T>
class LastGood {
 public:
  // Throws InvalidSetting.
  explicit LastGood(LastGoodSettings settings = {}) : settings_(checked(settings)) {}

  void remember(const T& value, Instant now) {
    const std::lock_guard lock(mutex_);
    value_ = value;
    stored_ = now;
  }

  // The value, if it is at most `staleness` old.
  std::optional<StaleValue<T>> recall(Instant now) const {
    const std::lock_guard lock(mutex_);
    const Duration age = elapsed(stored_, now);
    if (!value_ || age > settings_.staleness) return std::nullopt;
    return StaleValue<T>{*value_, age};
  }

 private:
  LastGoodSettings settings_;
  mutable std::mutex mutex_;
  std::optional<T> value_;
  Instant stored_{};
};

}  // namespace spillway::resilience
