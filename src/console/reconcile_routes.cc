#include "console/reconcile_routes.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "config/quantity.h"
#include "console/selection.h"
#include "console/settled_json.h"

namespace spillway::console {
namespace {

using http::Reply;
using http::Request;
using http::Response;
using Json = nlohmann::json;

std::int64_t unix_micros_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

unsigned status_of(base::ErrorClass error_class) { return error_class == base::ErrorClass::kRejected ? 400 : 503; }

Response failure(const base::Error& error) { return http::error_response(status_of(error.error_class), error.message); }

void ask(Desk& desk, const Reply& reply, std::function<Response(ports::OperatorSession&)> question) {
  const bool taken =
      desk.submit([question = std::move(question), reply](ports::OperatorSession& session) -> Desk::Then {
        return [reply, response = question(session)] { reply(response); };
      });
  if (!taken) reply(http::error_response(503, "too many questions wait for the store; try again"));
}

base::Result<ports::SettlementFilter> filter_of_query(const Request& request) {
  ports::SettlementFilter filter{.rule = request.query_value("rule"), .type = request.query_value("type")};
  if (const std::string before = request.query_value("before"); !before.empty()) {
    const auto micros = parse_before(before, unix_micros_now());
    if (!micros) return std::unexpected(micros.error());
    filter.before_unix_micros = *micros;
  }
  if (const std::string limit = request.query_value("limit"); !limit.empty()) {
    const auto count = config::parse_count(limit);
    if (!count || *count < 1 || *count > 10'000) {
      return base::fail(base::ErrorClass::kRejected, "limit is a number from 1 to 10000");
    }
    filter.limit = static_cast<std::size_t>(*count);
  }
  return filter;
}

void list(Desk& desk, const Request& request, const Reply& reply) {
  const auto filter = filter_of_query(request);
  if (!filter) return reply(failure(filter.error()));
  ask(desk, reply, [filter = *filter](ports::OperatorSession& session) {
    const auto events = session.settlements(filter);
    return events ? http::json_response(200, list_json(*events)) : failure(events.error());
  });
}

void show(Desk& desk, bool show_payloads, const Request& request, const Reply& reply) {
  const auto ids = parse_ids({request.query_value("id")});
  if (!ids) return reply(failure(ids.error()));
  ask(desk, reply, [ids = *ids, show_payloads](ports::OperatorSession& session) {
    const auto events = session.settlements({.ids = ids, .open_only = false});
    if (!events) return failure(events.error());
    if (events->empty()) return http::error_response(404, "nothing is recorded for this event");
    const auto row = session.settled_row(ids.front());
    if (!row) return failure(row.error());
    return http::json_response(200, event_json(events->front(), *row, show_payloads));
  });
}

struct Resolution {
  ports::SettlementFilter filter{};
  std::optional<std::int64_t> confirm{};
  std::string reason{};
  std::string who{};
};

// A selection that narrows nothing is a slip more often than a wish, so {} is refused.
base::Result<Resolution> resolution_in(const std::string& text) {
  const Json body = Json::parse(text, nullptr, false);
  if (!body.is_object()) return base::fail(base::ErrorClass::kRejected, "expected a JSON object");
  Resolution wanted;
  try {
    const auto ids = parse_ids(body.value("ids", std::vector<std::string>{}));
    if (!ids) return std::unexpected(ids.error());
    wanted.filter.ids = *ids;
    wanted.filter.rule = body.value("rule", "");
    wanted.filter.type = body.value("type", "");
    if (const std::string before = body.value("before", ""); !before.empty()) {
      const auto micros = parse_before(before, unix_micros_now());
      if (!micros) return std::unexpected(micros.error());
      wanted.filter.before_unix_micros = *micros;
    }
    if (body.contains("up_to_seq")) wanted.filter.up_to_seq = body.at("up_to_seq").get<std::int64_t>();
    if (body.contains("confirm")) wanted.confirm = body.at("confirm").get<std::int64_t>();
    wanted.reason = body.value("reason", "");
    wanted.who = body.value("who", "http");
  } catch (const Json::exception& error) {
    return base::fail(base::ErrorClass::kRejected, std::string("a field has the wrong type: ") + error.what());
  }
  const auto& filter = wanted.filter;
  if (filter.ids.empty() && filter.rule.empty() && filter.type.empty() && !filter.before_unix_micros &&
      !filter.up_to_seq) {
    return base::fail(base::ErrorClass::kRejected,
                      "name events by ids, or a selection by rule, type, before or "
                      "up_to_seq");
  }
  return wanted;
}

Response act(ports::OperatorSession& session, const Resolution& wanted, model::Verdict verdict) {
  const auto shown = preview(session, wanted.filter);
  if (!shown) return failure(shown.error());
  const bool named = !wanted.filter.ids.empty();
  if (wanted.confirm ? *wanted.confirm != shown->count() : !named)
    return http::json_response(409, preview_json(*shown));
  const auto changed = resolve(session, wanted.filter, *shown, verdict, wanted.reason, wanted.who);
  if (!changed) return failure(changed.error());
  return http::json_response(200, Json{{"changed", *changed}, {"verdict", model::to_string(verdict)}}.dump() + "\n");
}

}  // namespace

void add_reconcile_routes(http::Server& server, Desk& desk, bool show_payloads) {
  server.route("GET", "/api/reconcile",
               [&desk](const Request& request, const Reply& reply) { list(desk, request, reply); });
  server.route("GET", "/api/reconcile/show", [&desk, show_payloads](const Request& request, const Reply& reply) {
    show(desk, show_payloads, request, reply);
  });
  for (const auto verdict : {model::Verdict::kPublish, model::Verdict::kDiscard}) {
    server.route("POST", std::string("/api/reconcile/") + model::to_string(verdict),
                 [&desk, verdict](const Request& request, const Reply& reply) {
                   const auto wanted = resolution_in(request.body);
                   if (!wanted) return reply(failure(wanted.error()));
                   ask(desk, reply, [wanted = *wanted, verdict](ports::OperatorSession& session) {
                     return act(session, wanted, verdict);
                   });
                 });
  }
}

}  // namespace spillway::console
