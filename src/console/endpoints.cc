#include "console/endpoints.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "console/governor_routes.h"
#include "console/page.h"
#include "console/reconcile_routes.h"
#include "status/json.h"
#include "status/words.h"

namespace spillway::console {
namespace {

using http::Reply;
using http::Request;

http::Response health(double turn_age_s) {
  if (turn_age_s < status::kFrozenAfterS) return http::text_response(200, "ok\n");
  return http::text_response(503,
                             fmt::format("the relay's loop did not turn for {}\n", status::span_words(turn_age_s)));
}

http::Response ready(const Readiness& readiness, bool verbose) {
  std::string body = readiness.missing.empty() ? "ready\n" : "not ready\n";
  for (const std::string& what : readiness.missing) body += "missing: " + what + "\n";
  if (verbose) {
    for (const std::string& note : readiness.notes) body += "note: " + note + "\n";
  }
  return http::text_response(readiness.missing.empty() ? 200 : 503, body);
}

void add_views(http::Server& server, const Exhibits& exhibits) {
  server.route("GET", "/", [status = exhibits.status](const Request&, const Reply& reply) {
    reply({.content_type = "text/html; charset=utf-8", .body = status_page(status())});
  });
  server.route("GET", "/style.css", [](const Request&, const Reply& reply) {
    reply({.content_type = "text/css; charset=utf-8", .body = style_sheet()});
  });
  server.route("GET", "/healthz",
               [age = exhibits.turn_age_s](const Request&, const Reply& reply) { reply(health(age())); });
  server.route("GET", "/readyz", [readiness = exhibits.readiness](const Request& request, const Reply& reply) {
    reply(ready(readiness(), request.query.contains("verbose")));
  });
  server.route("GET", "/metrics", [metrics = exhibits.metrics](const Request& request, const Reply& reply) {
    const auto exposition = telemetry::choose_exposition(request.accept);
    reply({.content_type = telemetry::content_type(exposition), .body = metrics(exposition)});
  });
  server.route("GET", "/api/status", [status = exhibits.status](const Request&, const Reply& reply) {
    reply(http::json_response(200, status::to_json(status()) + "\n"));
  });
  server.route("GET", "/api/explain", [explanation = exhibits.explanation](const Request&, const Reply& reply) {
    reply(http::json_response(200, status::to_json(explanation()) + "\n"));
  });
}

void change_pause(Desk& desk, bool pause, const Request& request, const Reply& reply) {
  const auto body = nlohmann::json::parse(request.body, nullptr, false);
  if (!body.is_object()) return reply(http::error_response(400, "expected a JSON object"));
  std::string lane, reason, who;
  try {
    lane = body.value("lane", "all");
    reason = body.value("reason", "");
    who = body.value("who", "http");
  } catch (const nlohmann::json::exception&) {
    return reply(http::error_response(400, "lane, reason and who are strings"));
  }
  if (lane != "all" && lane != "backlog") return reply(http::error_response(400, "lane is \"all\" or \"backlog\""));
  const auto which = lane == "all" ? ports::Lane::kAll : ports::Lane::kBacklog;
  const bool taken = desk.submit([=](ports::OperatorSession& session) -> Desk::Then {
    const auto done = pause ? session.pause(which, reason, who) : session.resume(which, reason, who);
    return [=] {
      if (!done) return reply(http::error_response(503, done.error().message));
      const nlohmann::json answer = {{"lane", lane}, {"paused", pause}, {"reason", reason}, {"who", who}};
      reply(http::json_response(200, answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"));
    };
  });
  if (!taken) reply(http::error_response(503, "too many questions wait for the store; try again"));
}

void add_observations(http::Server& server, std::function<base::Result<std::size_t>(std::string_view)> observe) {
  server.route("POST", "/api/observations", [observe = std::move(observe)](const Request& request, const Reply& reply) {
    if (!observe) return reply(http::error_response(400, "no signal of kind push is configured"));
    const auto observed = observe(request.body);
    if (!observed) return reply(http::error_response(400, observed.error().message));
    reply(http::json_response(200, fmt::format("{{\"observed\": {}}}\n", *observed)));
  });
}

}  // namespace

void add_endpoints(http::Server& server, Desk& desk, Exhibits exhibits) {
  add_views(server, exhibits);
  for (const bool pause : {true, false}) {
    server.route(
        "POST", pause ? "/api/pause" : "/api/resume",
        [&desk, pause](const Request& request, const Reply& reply) { change_pause(desk, pause, request, reply); });
  }
  add_governor_routes(server, desk);
  add_observations(server, std::move(exhibits.observe));
  add_reconcile_routes(server, desk, exhibits.show_payloads);
}

}  // namespace spillway::console
