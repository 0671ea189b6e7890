#include "status/words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace spillway::status {

std::string count_words(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string span_words(double seconds) {
  if (seconds < 0.05) return "0 s";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (!std::isfinite(seconds) || seconds > 1e12) return "for ever";
  const auto whole = std::llround(seconds);
  const auto pair = [](long long big, const char* big_unit, long long small, const char* small_unit) {
    return small == 0 ? fmt::format("{} {}", big, big_unit)
                      : fmt::format("{} {} {} {}", big, big_unit, small, small_unit);
  };
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return pair(whole / 60, "min", whole % 60, "s");
  if (whole < 86'400) return pair(whole / 3600, "h", whole % 3600 / 60, "min");
  return pair(whole / 86'400, "d", whole % 86'400 / 3600, "h");
}

std::string rate_words(double per_second) {
  if (per_second != 0 && std::abs(per_second) < 9.95) return fmt::format("{:.1f}/s", per_second);
  return count_words(std::llround(per_second)) + "/s";
}

std::string bytes_words(std::int64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string counted(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count_words(count), noun, count == 1 ? "" : "s");
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

}  // namespace spillway::status
