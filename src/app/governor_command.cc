#include "app/governor_command.h"

#include <fmt/format.h>

#include <chrono>
#include <ostream>

#include "app/exit_status.h"
#include "config/quantity.h"
#include "console/override_request.h"
#include "status/governor_view.h"
#include "status/json.h"
#include "status/text.h"

namespace spillway::app {
namespace {

using Limit = std::optional<ports::Override>;

std::string words(const Limit& limit) { return limit ? status::override_words(*limit, {}) : "no override"; }

// The command that sets `limit` again for what is left of it.
std::string command_for(const ports::Override& limit) {
  const auto left = std::max(std::chrono::seconds(1), std::chrono::floor<std::chrono::seconds>(limit.remaining));
  std::string quoted;
  for (const char c : limit.reason) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return fmt::format("spillway governor {} --for {} --reason '{}'",
                     limit.max_total ? "set --max " + config::format_number(*limit.max_total) : "hold",
                     config::format_duration(left), quoted);
}

void say(bool json, const Limit& before, const Limit& after, std::ostream& out) {
  if (json) {
    out << status::override_to_json(after) << '\n';
    return;
  }
  const std::string undo = before ? command_for(*before) : after ? "spillway governor clear" : "nothing changed";
  out << fmt::format("was: {}\nnow: {}\nundo: {}\n", words(before), words(after), undo);
}

template <typename Change>
int change(bool json, ports::OutboxStore& store, std::ostream& out, std::ostream& err, const Change& make) {
  const auto session = store.open_operator();
  const auto before = session->controls();
  const base::Status done = before ? make(*session) : std::unexpected(before.error());
  const auto after = done ? session->controls() : std::unexpected(done.error());
  if (!after) {
    err << fmt::format("governor: {}\n", after.error().message);
    return exit_status_of(after.error());
  }
  say(json, before->limit, after->limit, out);
  return kExitDone;
}

}  // namespace

int run_governor_show(const GovernorShowOptions& options, ports::OutboxStore& store, std::ostream& out,
                      std::ostream& err) {
  const auto session = store.open_operator();
  const auto [status, store_exit_status] = inquire(options.inquiry, store, *session);
  if (!status.store.figures) {
    err << fmt::format("the store does not answer: {}\n", status.store.error);
    return store_exit_status;
  }
  if (options.json) {
    out << status::governor_to_json(status) << '\n';
  } else {
    out << status::governor_text(status, options.colour ? status::Colour::kTerminal : status::Colour::kNone);
  }
  return kExitDone;
}

int run_governor_limit(const GovernorLimitOptions& options, ports::OutboxStore& store, std::ostream& out,
                       std::ostream& err) {
  const auto request = console::override_request(
      {.max = options.max, .lasts = options.lasts, .reason = options.reason, .who = options.who});
  if (!request) {
    err << fmt::format("governor: {}\n", request.error().message);
    return kExitWrongUsage;
  }
  return change(options.json, store, out, err,
                [&](ports::OperatorSession& session) { return session.set_override(*request); });
}

int run_governor_clear(const GovernorClearOptions& options, ports::OutboxStore& store, std::ostream& out,
                       std::ostream& err) {
  return change(options.json, store, out, err,
                [&](ports::OperatorSession& session) { return session.clear_override(options.reason, options.who); });
}

}  // namespace spillway::app
