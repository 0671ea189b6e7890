#include "app/explain_command.h"

#include <fmt/format.h>

#include <ostream>

#include "app/exit_status.h"
#include "status/explanation.h"

namespace spillway::app {
namespace {

base::Result<status::Explanation> ask(const Inquiry& inquiry, const std::string& store) {
  const auto body = ask_relay(inquiry, "/api/explain");
  if (!body) return std::unexpected(body.error());
  auto told = status::explanation_from_json(*body);
  if (told && (told->outbox != inquiry.subject.outbox || told->store != store)) {
    return base::fail(base::ErrorClass::kUnavailable,
                      fmt::format("the relay there carries another outbox: {} in {}", told->outbox, told->store));
  }
  return told;
}

}  // namespace

int run_explain_decisions(const ExplainOptions& options, const ports::OutboxStore& store, std::ostream& out,
                          std::ostream& err) {
  const auto told = ask(options.inquiry, store.describe());
  if (!told) {
    err << fmt::format("the decisions are known to the running relay alone, and it does not answer{}{}: {}\n",
                       options.inquiry.relay.empty() ? "" : " at ", options.inquiry.relay, told.error().message);
    return kExitFailed;
  }
  out << (options.json ? status::to_json(*told) + "\n" : status::to_text(*told));
  return kExitDone;
}

}  // namespace spillway::app
