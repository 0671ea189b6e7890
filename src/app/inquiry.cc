#include "app/inquiry.h"

#include <fmt/format.h>

#include "app/exit_status.h"
#include "http/client.h"
#include "status/assemble.h"
#include "status/json.h"

namespace spillway::app {
namespace {

// Where a relay of this configuration can be asked from the same machine.
std::string relay_address(const config::HttpConfig& http) {
  if (!http.listen || http.listen->port == 0) return {};
  std::string host = http.listen->host;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, http.listen->port)
                                             : fmt::format("[{}]:{}", host, http.listen->port);
}

std::optional<status::LiveFigures> ask_figures(const Inquiry& inquiry, status::Subject& subject) {
  if (inquiry.relay.empty()) return std::nullopt;
  subject.relay_asked = inquiry.relay;
  const auto answer = ask_relay(inquiry, "/api/status");
  if (!answer) {
    subject.relay_no_answer = answer.error().message;
    return std::nullopt;
  }
  const auto told = status::from_json(*answer);
  if (!told) {
    subject.relay_no_answer = "something else answers there (HTTP status 200)";
    return std::nullopt;
  }
  if (told->subject.outbox != subject.outbox || told->subject.store != subject.store) {
    subject.relay_no_answer =
        fmt::format("the relay there carries another outbox: {} in {}", told->subject.outbox, told->subject.store);
    return std::nullopt;
  }
  return told->relay;
}

}  // namespace

Inquiry inquiry_of(const config::Config& config) {
  Inquiry inquiry;
  inquiry.subject.outbox = config.outbox.name;
  inquiry.subject.signals_given = !config.signals.empty();
  inquiry.relay = relay_address(config.http);
  return inquiry;
}

base::Result<std::string> ask_relay(const Inquiry& inquiry, const std::string& path) {
  if (inquiry.relay.empty()) {
    return base::fail(base::ErrorClass::kMisconfigured, "no address is known: http.listen is not set");
  }
  auto answer = http::get("http://" + inquiry.relay + path, inquiry.patience);
  if (!answer) return std::unexpected(answer.error());
  if (answer->status == 200) return std::move(answer->body);
  return base::fail(base::ErrorClass::kUnavailable,
                    fmt::format("something else answers there (HTTP status {})", answer->status));
}

Findings inquire(const Inquiry& inquiry, ports::OutboxStore& store, ports::OperatorSession& session) {
  int exit_status = kExitDone;
  status::Subject subject = inquiry.subject;
  subject.store = store.describe();
  status::StoreFigures figures;
  if (auto answer = session.figures()) {
    figures.figures = std::move(*answer);
  } else {
    figures.error = answer.error().message;
    exit_status = exit_status_of(answer.error());
  }
  const auto live = ask_figures(inquiry, subject);
  return {status::assemble(subject, figures, live), exit_status};
}

}  // namespace spillway::app
