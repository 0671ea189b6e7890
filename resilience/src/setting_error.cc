#include "spillway/resilience/setting_error.h"

#include <charconv>
#include <cmath>

namespace spillway::resilience {
namespace {

std::string shortest(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

}  // namespace

std::string to_string(Duration d) {
  struct Unit {
    std::int64_t nanoseconds;
    const char* name;
  };
  constexpr Unit kUnits[] = {{3'600'000'000'000, "h"}, {60'000'000'000, "min"}, {1'000'000'000, "s"},
                             {1'000'000, "ms"},        {1'000, "us"},           {1, "ns"}};
  if (d == Duration::zero()) return "0s";
  for (const Unit& unit : kUnits) {
    if (d.count() % unit.nanoseconds == 0) return std::to_string(d.count() / unit.nanoseconds) + unit.name;
  }
  return {};
}

SettingCheck& SettingCheck::whole(std::string_view field, std::int64_t value, std::int64_t low, std::int64_t high) {
  return that(value >= low && value <= high, field, std::to_string(value),
              std::to_string(low) + " to " + std::to_string(high));
}

SettingCheck& SettingCheck::real(std::string_view field, double value, double low, double high) {
  return that(std::isfinite(value) && value >= low && value <= high, field, shortest(value),
              shortest(low) + " to " + shortest(high));
}

SettingCheck& SettingCheck::time(std::string_view field, Duration value, Duration low, Duration high) {
  return that(value >= low && value <= high, field, to_string(value), to_string(low) + " to " + to_string(high));
}

SettingCheck& SettingCheck::that(bool holds, std::string_view field, std::string value, std::string expected) {
  if (!holds && !error_)
    error_ = SettingError{policy_ + "." + std::string(field), std::move(value), std::move(expected)};
  return *this;
}

}  // namespace spillway::resilience
