#include "console/governor_routes.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "console/override_request.h"
#include "status/json.h"

namespace spillway::console {
namespace {

using http::Reply;
using http::Request;
using Json = nlohmann::json;

struct Change {
  bool clear = false;
  std::string reason{};
  std::string who{};
  ports::OverrideRequest request{};  // unless `clear`
};

base::Result<Change> change_in(const std::string& text) {
  const auto wrong = [](const char* sentence) { return base::fail(base::ErrorClass::kRejected, sentence); };
  const Json body = Json::parse(text, nullptr, false);
  if (!body.is_object()) return wrong("expected a JSON object");
  try {
    const std::string action = body.value("action", "");
    Change wanted{.clear = action == "clear", .reason = body.value("reason", ""), .who = body.value("who", "http")};
    if (wanted.clear) return wanted;
    OverrideWish wish{.lasts = body.value("for", ""), .reason = wanted.reason, .who = wanted.who};
    if (action == "set") {
      if (!body.contains("max")) return wrong("max is missing: the events/s, live included, that may be sent at most");
      wish.max = body.at("max").get<double>();
    } else if (action != "hold") {
      return wrong("action is \"hold\", \"set\" or \"clear\"");
    }
    auto request = override_request(wish);
    if (!request) return std::unexpected(request.error());
    wanted.request = std::move(*request);
    return wanted;
  } catch (const Json::exception&) {
    return wrong("max is a number, and action, for, reason and who are strings");
  }
}

void change(Desk& desk, const Request& request, const Reply& reply) {
  const auto wanted = change_in(request.body);
  if (!wanted) return reply(http::error_response(400, wanted.error().message));
  const bool taken = desk.submit([wanted = *wanted, reply](ports::OperatorSession& session) -> Desk::Then {
    const base::Status done =
        wanted.clear ? session.clear_override(wanted.reason, wanted.who) : session.set_override(wanted.request);
    const auto now = done ? session.controls() : std::unexpected(done.error());
    return [=] {
      if (!now) return reply(http::error_response(503, now.error().message));
      reply(http::json_response(200, status::override_to_json(now->limit) + "\n"));
    };
  });
  if (!taken) reply(http::error_response(503, "too many questions wait for the store; try again"));
}

}  // namespace

void add_governor_routes(http::Server& server, Desk& desk) {
  server.route("POST", "/api/governor",
               [&desk](const Request& request, const Reply& reply) { change(desk, request, reply); });
}

}  // namespace spillway::console
