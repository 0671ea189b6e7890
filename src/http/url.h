// The parts of an http:// or https:// URL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spillway::http {

struct Url {
  bool secure = false;      // https
  std::string host;         // as it goes into the Host header
  std::string name;         // without brackets
  std::string port = "80";  // 443 where it is secure
  std::string target = "/";
};

// Empty where it is not http[s]://host[:port][/path][?query]; there is no user in a URL.
std::optional<Url> parse_url(std::string_view url);

}  // namespace spillway::http
