#include "http/url.h"

namespace spillway::http {

std::optional<Url> parse_url(std::string_view url) {
  constexpr std::string_view kPlain = "http://";
  constexpr std::string_view kSecure = "https://";
  Url parts;
  parts.secure = url.starts_with(kSecure);
  if (!parts.secure && !url.starts_with(kPlain)) return std::nullopt;
  if (parts.secure) parts.port = "443";
  url.remove_prefix(parts.secure ? kSecure.size() : kPlain.size());
  const std::size_t slash = url.find_first_of("/?");
  parts.host = url.substr(0, slash);
  if (slash != std::string_view::npos) parts.target = (url[slash] == '?' ? "/" : "") + std::string(url.substr(slash));
  if (parts.host.empty() || parts.host.find_first_of("@ ") != std::string::npos) return std::nullopt;

  std::string_view rest = parts.host;
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    parts.name = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
  } else {
    parts.name = rest.substr(0, rest.find(':'));
    rest.remove_prefix(parts.name.size());
  }
  if (rest.starts_with(':')) parts.port = rest.substr(1);
  if (parts.name.empty() || parts.port.empty()) return std::nullopt;
  return parts;
}

}  // namespace spillway::http
