// What a relay answers over HTTP on 127.0.0.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "http/client.h"

namespace spillway::testing {

inline base::Result<http::ClientResponse> http_get(std::uint16_t port, const std::string& path) {
  return http::get("http://127.0.0.1:" + std::to_string(port) + path, std::chrono::seconds(2));
}

// 0 where nobody answers.
inline unsigned http_status(std::uint16_t port, const std::string& path) {
  const auto answer = http_get(port, path);
  return answer ? answer->status : 0;
}

// The value of the series, named with its labels as in the exposition; nothing where it is not there.
inline std::optional<double> metric(std::uint16_t port, const std::string& series) {
  const auto answer = http_get(port, "/metrics");
  if (!answer) return std::nullopt;
  const auto at = answer->body.find("\n" + series + " ");
  if (at == std::string::npos) return std::nullopt;
  return std::stod(answer->body.substr(at + series.size() + 2));
}

}  // namespace spillway::testing
