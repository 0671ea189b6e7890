#include "status/explanation.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/timestamp.h"
#include "status/governor_view.h"
#include "status/words.h"

namespace spillway::status {
namespace {

using Json = nlohmann::ordered_json;

const char* unit_of(governor::CauseKind kind) {
  using governor::CauseKind;
  switch (kind) {
    case CauseKind::kQueue:
    case CauseKind::kLatency:
    case CauseKind::kLag:
    case CauseKind::kSignalMissing: return "s";
    case CauseKind::kErrors:
    case CauseKind::kErrorsNotLoad:
    case CauseKind::kCollapsed: return "share";
    case CauseKind::kThrottled:
    case CauseKind::kLiveTakesAll:
    case CauseKind::kFloor:
    case CauseKind::kMaximum:
    case CauseKind::kOverride:
    case CauseKind::kObserving: return "events/s";
    case CauseKind::kReleasing: return "events";
    case CauseKind::kStart:
    case CauseKind::kGrowing:
    case CauseKind::kPartialSignal:
    case CauseKind::kStopped:
    case CauseKind::kNoSignals:
    case CauseKind::kFixed:
    case CauseKind::kUnlimited:
    case CauseKind::kHealthy: return "";
  }
  return "";
}

ExplainedDecision explained(const governor::LoggedDecision& logged) {
  const governor::Decision& d = logged.decision;
  return {.unix_micros = logged.unix_micros,
          .action = governor::to_string(logged.action),
          .state = governor::to_string(d.state),
          .cause = governor::to_string(d.cause.kind),
          .signal = d.cause.signal,
          .value = d.cause.value,
          .limit = d.cause.limit,
          .unit = unit_of(d.cause.kind),
          .total = if_finite(d.total_rate),
          .backlog = if_finite(d.backlog_budget),
          .live = d.live_rate,
          .live_cap = d.live_cap,
          .capacity = d.capacity,
          .text = governor::text(d)};
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string time_text(std::int64_t unix_micros) { return model::to_string(model::Timestamp::at(unix_micros)); }

Json decision_json(const ExplainedDecision& d) {
  return {{"at", time_text(d.unix_micros)},
          {"at_us", d.unix_micros},
          {"action", d.action},
          {"state", d.state},
          {"cause", d.cause},
          {"signal", d.signal},
          {"value", d.value},
          {"limit", d.limit},
          {"unit", d.unit},
          {"total", or_null(d.total)},
          {"backlog", or_null(d.backlog)},
          {"live", d.live},
          {"live_cap", or_null(d.live_cap)},
          {"capacity", d.capacity},
          {"text", d.text}};
}

std::optional<double> rate_from(const Json& json, const char* name) {
  const auto at = json.find(name);
  return at == json.end() || at->is_null() ? std::nullopt : std::optional(at->get<double>());
}

ExplainedDecision decision_from(const Json& json) {
  return {.unix_micros = json.at("at_us").get<std::int64_t>(),
          .action = json.value("action", ""),
          .state = json.value("state", ""),
          .cause = json.value("cause", ""),
          .signal = json.value("signal", ""),
          .value = json.value("value", 0.0),
          .limit = json.value("limit", 0.0),
          .unit = json.value("unit", ""),
          .total = rate_from(json, "total"),
          .backlog = rate_from(json, "backlog"),
          .live = json.value("live", 0.0),
          .live_cap = rate_from(json, "live_cap"),
          .capacity = json.value("capacity", 0.0),
          .text = json.value("text", "")};
}

Explanation explanation_from(const Json& json) {
  Explanation explanation{
      .outbox = json.value("outbox", ""), .store = json.value("store", ""), .law = json.at("law").get<std::string>()};
  for (const Json& change : json.at("changes")) explanation.changes.push_back(decision_from(change));
  if (const Json& latest = json.at("latest"); latest.is_object()) explanation.latest = decision_from(latest);
  return explanation;
}

std::string line(const ExplainedDecision& d) {
  return one_line(fmt::format("{}  {:<6}  {:<12}  {}", time_text(d.unix_micros), d.action, d.state, d.text));
}

}  // namespace

Explanation explain(const Subject& subject, governor::LawKind law, const governor::DecisionLog& log) {
  Explanation explanation{.outbox = subject.outbox, .store = subject.store, .law = governor::to_string(law)};
  for (const auto& change : log.changes()) explanation.changes.push_back(explained(change));
  if (log.latest()) explanation.latest = explained(*log.latest());
  return explanation;
}

std::string to_json(const Explanation& explanation) {
  Json changes = Json::array();
  for (const auto& change : explanation.changes) changes.push_back(decision_json(change));
  const Json out = {{"version", 1},
                    {"outbox", explanation.outbox},
                    {"store", explanation.store},
                    {"law", explanation.law},
                    {"changes", changes},
                    {"latest", explanation.latest ? decision_json(*explanation.latest) : Json(nullptr)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Result<Explanation> explanation_from_json(std::string_view text) {
  try {
    return explanation_from(Json::parse(text));
  } catch (const nlohmann::json::exception& e) {
    return base::fail(base::ErrorClass::kRejected, std::string("this is no explanation of Spillway: ") + e.what());
  }
}

std::string to_text(const Explanation& explanation) {
  std::string text =
      one_line(fmt::format("outbox {}   {}   law {}", explanation.outbox, explanation.store, explanation.law)) + "\n";
  if (!explanation.latest) return text + "no decision was taken yet\n";
  for (const auto& change : explanation.changes) text += line(change) + "\n";
  return text + "now: " + line(*explanation.latest) + "\n";
}

}  // namespace spillway::status
