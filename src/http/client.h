// One request to another process, blocking: for the command line.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace spillway::http {

struct ClientRequest {
  std::string method = "GET";
  std::string url{};  // http://host[:port]/path?query
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  std::chrono::milliseconds timeout = std::chrono::seconds(2);  // for all of it
};

struct ClientResponse {
  unsigned status = 0;
  std::string content_type;
  std::string body;  // at most 16 MiB
};

// kUnavailable where nobody answered in time (the message says what happened, without the address), kMisconfigured
// where the URL is not one. Whatever was answered is a success, also a 500.
base::Result<ClientResponse> fetch(const ClientRequest& request);

base::Result<ClientResponse> get(const std::string& url, std::chrono::milliseconds timeout);

}  // namespace spillway::http
