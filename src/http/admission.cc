#include "http/admission.h"

namespace spillway::http {
namespace {

bool same_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

// "name:port" and "[::1]:port" without the port and the brackets.
std::string_view host_name(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool is_json(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return same_text(type, "application/json");
}

}  // namespace

bool is_loopback(std::string_view host) {
  // "127.0.0.1.example" is somebody's name.
  const bool digits = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "::1" || (digits && host.starts_with("127.")) || same_text(host, "localhost");
}

bool same_secret(std::string_view given, std::string_view expected) {
  unsigned char difference = given.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = expected.empty() ? '\0' : expected[i % expected.size()];
    difference = static_cast<unsigned char>(difference | (given[i] ^ other));
  }
  return difference == 0 && !expected.empty();
}

std::optional<Response> Admission::refuse(const Request& request) const {
  if (request.host.empty()) return error_response(400, "the request has no Host header");
  // A browser that was led here by a rebound name still sends that name.
  if (loopback_ && !is_loopback(host_name(request.host))) {
    return error_response(403, "Host must be localhost, 127.0.0.1 or [::1]");
  }
  if (!request.origin.empty() && !same_text(request.origin, "http://" + request.host) &&
      !same_text(request.origin, "https://" + request.host)) {
    return error_response(403, "requests from other origins are refused");
  }
  if (request.method == "GET" || request.method == "HEAD") return std::nullopt;
  return refuse_change(request);
}

std::optional<Response> Admission::refuse_change(const Request& request) const {
  if (request.method != "POST") {
    Response refusal = error_response(405, "only GET, HEAD and POST are known");
    refusal.allow = "GET, HEAD, POST";
    return refusal;
  }
  if (!is_json(request.content_type)) return error_response(415, "a change needs Content-Type: application/json");
  if (token_.empty()) return std::nullopt;
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view given = request.authorization;
  if (given.size() > kScheme.size() && same_text(given.substr(0, kScheme.size()), kScheme) &&
      same_secret(given.substr(kScheme.size()), token_)) {
    return std::nullopt;
  }
  Response refusal =
      error_response(401, "a change needs the header Authorization: Bearer with the value of http.token");
  refusal.challenge_bearer = true;
  return refusal;
}

}  // namespace spillway::http
