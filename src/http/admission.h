// Who may ask what. A page of another site, a name that was rebound to this address, and a stranger on the network must
// not be able to change anything.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace spillway::http {

// 127.0.0.0/8, ::1 and localhost.
bool is_loopback(std::string_view host);

// Takes as long for a wrong token as for the right one of the same length.
bool same_secret(std::string_view given, std::string_view expected);

class Admission {
 public:
  // `host` is what the server listens on. An empty token asks for none.
  Admission(std::string host, std::string token) : loopback_(is_loopback(host)), token_(std::move(token)) {}

  // The refusal, or nothing where the request may go on. Everything but GET and HEAD counts as a change: it needs POST,
  // a JSON content type, and the token where there is one.
  std::optional<Response> refuse(const Request& request) const;

 private:
  std::optional<Response> refuse_change(const Request& request) const;

  bool loopback_;
  std::string token_;
};

}  // namespace spillway::http
