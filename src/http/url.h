// The parts of an http:// URL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spillway::http {

struct Url {
  std::string host;  // as it goes into the Host header
  std::string name;  // without brackets
  std::string port = "80";
  std::string target = "/";
};

// Empty where it is not http://host[:port][/path][?query]. There is no TLS here, and no user in a URL.
std::optional<Url> parse_url(std::string_view url);

}  // namespace spillway::http
