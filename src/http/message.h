// What a route sees of a request, and what it answers.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace spillway::http {

struct Request {
  std::string method{};
  std::string path{};                          // decoded, without the query
  std::map<std::string, std::string> query{};  // decoded; of a repeated name the last
  std::string host{};
  std::string origin{};
  std::string content_type{};
  std::string authorization{};
  std::string accept{};
  std::string body{};

  // Empty where it is absent.
  std::string query_value(const std::string& name) const {
    const auto at = query.find(name);
    return at == query.end() ? std::string() : at->second;
  }
};

struct Response {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body{};
  std::string allow{};            // for 405
  bool challenge_bearer = false;  // for 401
};

// Answers once, from the loop thread, then or later. One that is dropped without an answer becomes a 503.
using Reply = std::function<void(Response)>;
using Handler = std::function<void(const Request&, Reply)>;

// Fills path and query of `request`. False where the target is not of the form /path?query.
bool split_target(std::string_view target, Request& request);

Response text_response(unsigned status, std::string body);
Response json_response(unsigned status, std::string body);
// {"error": message}
Response error_response(unsigned status, const std::string& message);

}  // namespace spillway::http
