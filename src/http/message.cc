#include "http/message.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace spillway::http {
namespace {

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (!high || !low) return std::nullopt;
      out += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool add_parameter(std::string_view pair, Request& request) {
  if (pair.empty()) return true;
  const std::size_t equals = pair.find('=');
  const auto name = decode(pair.substr(0, equals), true);
  const auto value = decode(equals == std::string_view::npos ? "" : pair.substr(equals + 1), true);
  if (!name || !value) return false;
  request.query.insert_or_assign(*name, *value);
  return true;
}

}  // namespace

bool split_target(std::string_view target, Request& request) {
  if (target.empty() || target.front() != '/') return false;
  const std::size_t mark = target.find('?');
  const auto path = decode(target.substr(0, mark), false);
  if (!path) return false;
  request.path = *path;
  if (mark == std::string_view::npos) return true;
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find('&');
    if (!add_parameter(rest.substr(0, end), request)) return false;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return true;
}

Response text_response(unsigned status, std::string body) { return {.status = status, .body = std::move(body)}; }

Response json_response(unsigned status, std::string body) {
  return {.status = status, .content_type = "application/json", .body = std::move(body)};
}

Response error_response(unsigned status, const std::string& message) {
  const nlohmann::json body = {{"error", message}};
  return json_response(status, body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace spillway::http
