#include <charconv>
#include <optional>
#include <string_view>

#include "telemetry/metrics.h"

namespace spillway::telemetry {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view piece = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return trimmed(piece);
}

// RFC 9110: a weight without a number counts as 1.
double weight(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view parameter = cut(parameters, ';');
    if (!parameter.starts_with("q=")) continue;
    double q = 0;
    const auto digits = parameter.substr(2);
    return std::from_chars(digits.data(), digits.data() + digits.size(), q).ec == std::errc{} ? q : 0;
  }
  return 1;
}

}  // namespace

Exposition choose_exposition(std::string_view accept) {
  double open = 0;
  double plain = 0;
  while (!accept.empty()) {
    std::string_view range = cut(accept, ',');
    const std::string_view type = cut(range, ';');
    const double q = weight(range);
    if (type == "application/openmetrics-text") open = std::max(open, q);
    if (type == "text/plain") plain = std::max(plain, q);
  }
  return open > 0 && open >= plain ? Exposition::kOpenMetrics : Exposition::kText;
}

const char* content_type(Exposition exposition) {
  return exposition == Exposition::kText ? "text/plain; version=0.0.4; charset=utf-8"
                                         : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

}  // namespace spillway::telemetry
