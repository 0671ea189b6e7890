#include "http/retry_after.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace spillway::http {
namespace {

constexpr double kLongest = 300;

std::optional<std::int64_t> unix_seconds(const std::string& date) {
  tm parts{};
  const char* end = ::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&parts);
}

}  // namespace

std::optional<double> retry_after_seconds(const std::string& retry_after, const std::string& date) {
  double seconds = 0;
  const char* end = retry_after.data() + retry_after.size();
  const auto [stop, error] = std::from_chars(retry_after.data(), end, seconds, std::chars_format::fixed);
  if (error == std::errc() && stop == end) {
    if (!std::isfinite(seconds) || seconds < 0) return std::nullopt;
    return std::min(seconds, kLongest);
  }
  const auto until = unix_seconds(retry_after);
  const auto now = unix_seconds(date);
  if (!until || !now) return std::nullopt;
  return std::clamp(static_cast<double>(*until - *now), 0.0, kLongest);
}

}  // namespace spillway::http
