#include "app/status_command.h"

#include <fmt/format.h>

#include <ostream>
#include <thread>

#include "app/exit_status.h"
#include "http/client.h"
#include "status/assemble.h"
#include "status/json.h"
#include "status/text.h"

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

std::optional<status::LiveFigures> ask_relay(const StatusOptions& options, status::Subject& subject) {
  if (options.relay.empty()) return std::nullopt;
  subject.relay_asked = options.relay;
  const auto answer = http::get("http://" + options.relay + "/api/status", options.patience);
  if (!answer) {
    subject.relay_no_answer = answer.error().message;
    return std::nullopt;
  }
  const auto told = status::from_json(answer->body);
  if (answer->status != 200 || !told) {
    subject.relay_no_answer = fmt::format("something else answers there (HTTP status {})", answer->status);
    return std::nullopt;
  }
  if (told->subject.outbox != subject.outbox || told->subject.store != subject.store) {
    subject.relay_no_answer =
        fmt::format("the relay there carries another outbox: {} in {}", told->subject.outbox, told->subject.store);
    return std::nullopt;
  }
  return told->relay;
}

struct Seen {
  status::Status status;
  int exit_status = kExitDone;  // of a store that does not answer
};

Seen look(const StatusOptions& options, ports::OutboxStore& store, ports::OperatorSession& session) {
  int exit_status = kExitDone;
  status::Subject subject = options.subject;
  subject.store = store.describe();
  status::StoreFigures figures;
  if (auto answer = session.figures()) {
    figures.figures = std::move(*answer);
  } else {
    figures.error = answer.error().message;
    exit_status = exit_status_of(answer.error());
  }
  const auto live = ask_relay(options, subject);
  return {status::assemble(subject, figures, live), exit_status};
}

void show(const StatusOptions& options, const status::Status& status, std::ostream& out) {
  if (options.json) {
    out << status::to_json(status) << '\n';
  } else {
    if (options.watch && options.colour) out << "\033[H\033[2J";
    out << status::to_text(status, options.colour ? status::Colour::kTerminal : status::Colour::kNone);
    if (options.watch && !options.colour) out << '\n';
  }
  out.flush();
}

}  // namespace

StatusOptions status_options(const config::Config& config) {
  StatusOptions options;
  options.subject.outbox = config.outbox.name;
  options.subject.signals_given = !config.signals.empty();
  options.relay = relay_address(config.http);
  return options;
}

int run_status(const StatusOptions& options, ports::OutboxStore& store, std::ostream& out, std::ostream& err) {
  const auto session = store.open_operator();
  for (int round = 1;; ++round) {
    const auto [status, store_exit_status] = look(options, store, *session);
    const bool nobody = !status.store.figures && !status.relay;
    if (nobody) {
      err << status.cause << '\n';
      if (options.json) show(options, status, out);
    } else {
      show(options, status, out);
    }
    if (!options.watch || round == options.rounds) {
      if (nobody) return store_exit_status;
      return options.check && !status.alerts.empty() ? kExitBadAnswer : kExitDone;
    }
    std::this_thread::sleep_for(options.every);
  }
}

}  // namespace spillway::app
