// What a policy says about a setting it cannot work with.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "spillway/resilience/time.h"

namespace spillway::resilience {

struct SettingError {
  std::string field;  // "circuit_breaker.failure_rate_percent"
  std::string value;  // "101"
  std::string range;  // "1 to 100"

  // "circuit_breaker.failure_rate_percent is 101; expected 1 to 100"
  std::string message() const { return field + " is " + value + "; expected " + range; }
};

// Thrown by every policy's constructor; the same error is available as a value from the settings' first_error().
class InvalidSetting : public std::invalid_argument {
 public:
  explicit InvalidSetting(SettingError error) : std::invalid_argument(error.message()), error_(std::move(error)) {}
  const SettingError& error() const noexcept { return error_; }

 private:
  SettingError error_;
};

// Collects the first setting out of range; both ends of a range are inside it.
class SettingCheck {
 public:
  explicit SettingCheck(std::string_view policy) : policy_(policy) {}

  SettingCheck& whole(std::string_view field, std::int64_t value, std::int64_t low, std::int64_t high);
  SettingCheck& real(std::string_view field, double value, double low, double high);
  SettingCheck& time(std::string_view field, Duration value, Duration low, Duration high);
  // A relation between fields: `holds` or an error that shows `value` and says what was expected.
  SettingCheck& that(bool holds, std::string_view field, std::string value, std::string expected);

  std::optional<SettingError> first_error() { return std::move(error_); }

 private:
  std::string policy_;
  std::optional<SettingError> error_;
};

// "250ms", "30s", "1500us": the largest unit that is exact.
std::string to_string(Duration d);

// Returns the settings unchanged, or throws InvalidSetting. For a constructor's initialiser list.
template <typename Settings>
Settings checked(Settings settings) {
  if (std::optional<SettingError> error = settings.first_error()) throw InvalidSetting(*std::move(error));
  return settings;
}

// The longest time any setting accepts: far beyond use, and sums of a few of them do not overflow.
inline constexpr Duration kLongestTime = std::chrono::hours(24 * 365 * 10);

}  // namespace spillway::resilience
