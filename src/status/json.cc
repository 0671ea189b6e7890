#include "status/json.h"

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/timestamp.h"

namespace spillway::status {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename T>
std::optional<T> optional_of(const Json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end() || at->is_null()) return std::nullopt;
  return at->template get<T>();
}

Json section(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_object() ? *at : Json::object();
}

const char* condition_name(RelayCondition condition) {
  switch (condition) {
    case RelayCondition::kNone: return "none";
    case RelayCondition::kSilent: return "silent";
    case RelayCondition::kFrozen: return "frozen";
    case RelayCondition::kAnswering: return "answering";
  }
  return "unknown";
}

RelayCondition condition_from(const std::string& name) {
  for (const auto condition : {RelayCondition::kSilent, RelayCondition::kFrozen, RelayCondition::kAnswering}) {
    if (name == condition_name(condition)) return condition;
  }
  return RelayCondition::kNone;
}

relay::RelayState state_from(const std::string& name) {
  using relay::RelayState;
  for (const auto state : {RelayState::kLoading, RelayState::kRunning, RelayState::kDraining}) {
    if (name == relay::to_string(state)) return state;
  }
  return RelayState::kStandby;
}

Json eta_json(const Eta& eta) {
  return {{"seconds", or_null(eta.seconds)},
          {"low", or_null(eta.low)},
          {"high", or_null(eta.high)},
          {"reason", eta.reason},
          {"never", eta.kind == Eta::Kind::kNever}};
}

Eta eta_from(const Json& json) {
  Eta eta{.seconds = optional_of<double>(json, "seconds"),
          .low = optional_of<double>(json, "low"),
          .high = optional_of<double>(json, "high"),
          .reason = json.value("reason", "")};
  eta.kind = eta.seconds ? Eta::Kind::kKnown : json.value("never", false) ? Eta::Kind::kNever : Eta::Kind::kUnknown;
  return eta;
}

Json rates_json(const Rates& rates) {
  return {{"arrival", or_null(rates.arrival)},
          {"live", or_null(rates.live)},
          {"promoted", or_null(rates.promoted)},
          {"backlog", or_null(rates.backlog)},
          {"published", or_null(rates.published)}};
}

Rates rates_from(const Json& json) {
  return {.arrival = optional_of<double>(json, "arrival"),
          .live = optional_of<double>(json, "live"),
          .promoted = optional_of<double>(json, "promoted"),
          .backlog = optional_of<double>(json, "backlog"),
          .published = optional_of<double>(json, "published")};
}

Json time_json(const std::optional<std::int64_t>& micros) {
  return micros ? Json(model::to_string(model::Timestamp::at(*micros))) : Json(nullptr);
}

Json override_json(const std::optional<ports::Override>& limit, const std::optional<double>& held_at) {
  if (!limit) return nullptr;
  return {{"kind", limit->max_total ? "set" : "hold"},
          {"max", or_null(limit->max_total ? limit->max_total : held_at)},
          {"remaining_s", std::chrono::duration<double>(limit->remaining).count()},
          {"reason", limit->reason},
          {"who", limit->who},
          {"since", time_json(limit->since_unix_micros)},
          {"since_us", limit->since_unix_micros}};
}

std::optional<ports::Override> override_from(const Json& json) {
  if (json.empty()) return std::nullopt;
  const bool hold = json.value("kind", "") == "hold";
  return ports::Override{.max_total = hold ? std::nullopt : optional_of<double>(json, "max"),
                         .reason = json.value("reason", ""),
                         .who = json.value("who", ""),
                         .since_unix_micros = json.value("since_us", std::int64_t{0}),
                         .remaining = std::chrono::milliseconds(std::llround(json.value("remaining_s", 0.0) * 1e3))};
}

Json governor_json(const Status& status) {
  const GovernorView& governor = status.governor;
  const auto limit = status.store.figures ? status.store.figures->limit : std::nullopt;
  return {{"law", governor.law},
          {"state", governor.state},
          {"capacity", or_null(governor.capacity)},
          {"budget", or_null(governor.budget)},
          {"total", or_null(governor.total)},
          {"live_demand", or_null(governor.live_demand)},
          {"others", or_null(governor.others)},
          {"live_cap", or_null(governor.live_cap)},
          {"cause", governor.cause},
          {"reason", governor.reason},
          {"since", time_json(governor.since_unix_micros)},
          {"since_us", or_null(governor.since_unix_micros)},
          {"held_at", or_null(governor.held_at)},
          {"override", override_json(limit, governor.held_at)}};
}

GovernorView governor_from(const Json& json) {
  return {.law = json.value("law", "unknown"),
          .state = json.value("state", "unknown"),
          .capacity = optional_of<double>(json, "capacity"),
          .budget = optional_of<double>(json, "budget"),
          .total = optional_of<double>(json, "total"),
          .live_demand = optional_of<double>(json, "live_demand"),
          .others = optional_of<double>(json, "others"),
          .live_cap = optional_of<double>(json, "live_cap"),
          .held_at = optional_of<double>(json, "held_at"),
          .cause = json.value("cause", ""),
          .reason = json.value("reason", ""),
          .since_unix_micros = optional_of<std::int64_t>(json, "since_us")};
}

Json signals_json(const std::vector<SignalView>& signals) {
  Json list = Json::array();
  for (const SignalView& signal : signals) {
    list.push_back({{"name", signal.name},
                    {"p99_ms", or_null(signal.p99_ms)},
                    {"error_rate", or_null(signal.error_rate)},
                    {"age_s", or_null(signal.age_s)},
                    {"ceiling_ms", or_null(signal.ceiling_ms)},
                    {"lag_ms", or_null(signal.lag_ms)},
                    {"state", signal.state},
                    {"trouble", signal.trouble},
                    {"climb", or_null(signal.climb)}});
  }
  return list;
}

std::vector<SignalView> signals_from(const Json& list) {
  std::vector<SignalView> signals;
  for (const Json& json : list) {
    signals.push_back({.name = json.value("name", ""),
                       .p99_ms = optional_of<double>(json, "p99_ms"),
                       .error_rate = optional_of<double>(json, "error_rate"),
                       .age_s = optional_of<double>(json, "age_s"),
                       .ceiling_ms = optional_of<double>(json, "ceiling_ms"),
                       .lag_ms = optional_of<double>(json, "lag_ms"),
                       .state = json.value("state", ""),
                       .trouble = json.value("trouble", ""),
                       .climb = optional_of<double>(json, "climb")});
  }
  return signals;
}

Json sent_json(const std::optional<LaneTotals>& sent) {
  if (!sent) return nullptr;
  return {{"live", sent->live}, {"promoted", sent->promoted}, {"backlog", sent->backlog}};
}

std::optional<LaneTotals> sent_from(const Json& json) {
  if (json.empty()) return std::nullopt;
  return LaneTotals{.live = json.value("live", std::int64_t{0}),
                    .promoted = json.value("promoted", std::int64_t{0}),
                    .backlog = json.value("backlog", std::int64_t{0})};
}

Json relay_json(const LiveFigures& relay) {
  Json stuck = Json::array();
  for (const relay::StuckPartition& partition : relay.stuck) {
    stuck.push_back({{"topic", partition.topic},
                     {"partition", partition.partition},
                     {"seconds", partition.seconds},
                     {"waiting", partition.waiting},
                     {"reason", partition.reason}});
  }
  Json net = nullptr;
  if (relay.net) net = {{"low", relay.net->low}, {"high", relay.net->high}};
  return {{"process", relay.process},
          {"state", relay::to_string(relay.state)},
          {"turn_age_s", relay.turn_age_s},
          {"sent", sent_json(relay.sent)},
          {"unfinished", relay.unfinished},
          {"in_flight", {{"events", relay.in_flight}, {"bytes", relay.in_flight_bytes}}},
          {"held_by_ahead", relay.held_by_ahead},
          {"stuck", stuck},
          {"net", net},
          {"store_error", relay.store_error},
          {"sink_error", relay.sink_error}};
}

std::vector<relay::StuckPartition> stuck_from(const Json& list) {
  std::vector<relay::StuckPartition> stuck;
  for (const Json& partition : list) {
    stuck.push_back({.topic = partition.value("topic", ""),
                     .partition = partition.value("partition", -1),
                     .seconds = partition.value("seconds", 0.0),
                     .waiting = partition.value("waiting", std::size_t{0}),
                     .reason = partition.value("reason", "")});
  }
  return stuck;
}

LiveFigures live_from(const Status& status, const Json& json) {
  const Json in_flight = section(json, "in_flight");
  LiveFigures live{.process = json.value("process", ""),
                   .state = state_from(json.value("state", "")),
                   .turn_age_s = json.value("turn_age_s", 0.0),
                   .rates = status.rates,
                   .live = status.live,
                   .sent = sent_from(section(json, "sent")),
                   .unfinished = json.value("unfinished", std::int64_t{0}),
                   .in_flight = in_flight.value("events", std::int64_t{0}),
                   .in_flight_bytes = in_flight.value("bytes", std::int64_t{0}),
                   .held_by_ahead = json.value("held_by_ahead", false),
                   .stuck = stuck_from(json.value("stuck", Json::array())),
                   .governor = status.governor,
                   .signals = status.signals,
                   .store_error = json.value("store_error", ""),
                   .sink_error = json.value("sink_error", "")};
  if (const Json net = section(json, "net"); !net.empty()) {
    live.net = NetRange{net.value("low", 0.0), net.value("high", 0.0)};
  }
  return live;
}

Json lease_json(const Status& status) {
  Json json = {{"holder", nullptr}, {"epoch", nullptr}, {"role", nullptr}, {"id", nullptr}, {"expires_in_s", nullptr}};
  if (status.store.figures && status.store.figures->lease) {
    const ports::LeaseState& lease = *status.store.figures->lease;
    json["holder"] = lease.holder_name;
    json["epoch"] = lease.lease.epoch;
    json["id"] = base::to_string(lease.lease.holder);
    json["expires_in_s"] = std::chrono::duration<double>(lease.expires_in).count();
  }
  // Of the relay that answered: what it is itself.
  if (status.relay) json["role"] = status.relay->state == relay::RelayState::kStandby ? "standby" : "owner";
  return json;
}

std::optional<ports::LeaseState> lease_from(const Json& json) {
  const auto holder = optional_of<std::string>(json, "holder");
  if (!holder) return std::nullopt;
  ports::LeaseState lease{.holder_name = *holder};
  lease.lease.epoch = json.value("epoch", std::int64_t{0});
  lease.lease.holder = base::parse_uuid(json.value("id", "")).value_or(base::Uuid{});
  lease.expires_in =
      std::chrono::milliseconds(static_cast<std::int64_t>(optional_of<double>(json, "expires_in_s").value_or(0) * 1e3));
  return lease;
}

void put_figures(Json& out, const Status& status) {
  if (!status.store.figures) {
    for (const char* name : {"triage", "paused", "progress_age_s", "key_headroom"}) out[name] = nullptr;
    return;
  }
  const ports::Figures& figures = *status.store.figures;
  out["triage"] = {{"published", figures.published},
                   {"discarded", figures.discarded},
                   {"reconciled", figures.reconciled},
                   {"open", figures.open_settlements},
                   {"oldest_open_age_s", or_null(figures.oldest_open_age_s)}};
  const ports::Pause& pause = figures.pause;
  out["paused"] = {{"live", pause.all},
                   {"backlog", pause.all || pause.backlog},
                   {"reason", pause.reason},
                   {"who", pause.who},
                   {"since_us", pause.since_unix_micros}};
  out["live"]["behind_their_key"] = figures.behind_their_key;
  out["progress_age_s"] = or_null(figures.progress_age_s);
  out["key_headroom"] = or_null(figures.seq_headroom);
  out["key_cache"] = figures.seq_cache;
}

std::optional<ports::Figures> figures_from(const Json& json, const Status& status) {
  if (!status.backlog.events) return std::nullopt;
  const Json triage = section(json, "triage");
  const Json paused = section(json, "paused");
  return ports::Figures{.waiting_rows = *status.backlog.events + status.live.events.value_or(0),
                        .estimated = status.backlog.estimated,
                        .oldest_age_s = status.backlog.oldest_age_s,
                        .waiting_bytes = status.backlog.bytes.value_or(0),
                        .open_settlements = triage.value("open", std::int64_t{0}),
                        .behind_their_key = section(json, "live").value("behind_their_key", std::int64_t{0}),
                        .oldest_open_age_s = optional_of<double>(triage, "oldest_open_age_s"),
                        .lease = lease_from(section(json, "lease")),
                        .progress_age_s = optional_of<double>(json, "progress_age_s"),
                        .published = triage.value("published", std::int64_t{0}),
                        .discarded = triage.value("discarded", std::int64_t{0}),
                        .reconciled = triage.value("reconciled", std::int64_t{0}),
                        .seq_headroom = optional_of<double>(json, "key_headroom"),
                        .seq_cache = json.value("key_cache", std::int64_t{1}),
                        .pause = {.all = paused.value("live", false),
                                  .backlog = paused.value("backlog", false) && !paused.value("live", false),
                                  .reason = paused.value("reason", ""),
                                  .who = paused.value("who", ""),
                                  .since_unix_micros = paused.value("since_us", std::int64_t{0})},
                        .limit = override_from(section(section(json, "governor"), "override"))};
}

Json alerts_json(const std::vector<Alert>& alerts) {
  Json list = Json::array();
  for (const Alert& alert : alerts) {
    list.push_back({{"name", alert.name},
                    {"severity", alert.severity == Severity::kPage ? "page" : "warning"},
                    {"summary", alert.summary}});
  }
  return list;
}

Status status_from(const Json& json) {
  Status status;
  status.subject.outbox = json.value("outbox", "");
  status.subject.store = json.value("store", "");
  status.condition = condition_from(json.value("condition", ""));
  const Json& backlog = json.at("backlog");
  status.backlog = {.events = optional_of<std::int64_t>(backlog, "events"),
                    .estimated = backlog.value("estimated", false),
                    .oldest_age_s = optional_of<double>(backlog, "oldest_age_s"),
                    .bytes = optional_of<std::int64_t>(backlog, "bytes")};
  const Json live = section(json, "live");
  status.live = {optional_of<std::int64_t>(live, "events"), optional_of<double>(live, "oldest_age_s")};
  status.rates = rates_from(json.at("rates"));
  status.eta = eta_from(section(json, "eta"));
  status.governor = governor_from(section(json, "governor"));
  status.signals = signals_from(json.value("signals", Json::array()));
  status.cause = json.value("cause", "");
  for (const Json& alert : json.value("alerts", Json::array())) {
    status.alerts.push_back({.name = alert.value("name", ""),
                             .severity = alert.value("severity", "") == "page" ? Severity::kPage : Severity::kWarning,
                             .summary = alert.value("summary", "")});
  }
  const Json figures = section(json, "figures");
  status.store = {
      .figures = figures_from(json, status), .age_s = figures.value("age_s", 0.0), .error = figures.value("error", "")};
  if (const Json relay = section(json, "relay"); !relay.empty()) status.relay = live_from(status, relay);
  return status;
}

}  // namespace

std::string to_json(const Status& status, bool indent) {
  Json out = {{"version", 1},
              {"outbox", status.subject.outbox},
              {"store", status.subject.store},
              {"cause", status.cause},
              {"condition", condition_name(status.condition)}};
  out["backlog"] = {{"events", or_null(status.backlog.events)},
                    {"oldest_age_s", or_null(status.backlog.oldest_age_s)},
                    {"bytes", or_null(status.backlog.bytes)},
                    {"estimated", status.backlog.estimated}};
  out["live"] = {{"events", or_null(status.live.events)}, {"oldest_age_s", or_null(status.live.oldest_age_s)}};
  out["rates"] = rates_json(status.rates);
  out["eta"] = eta_json(status.eta);
  out["governor"] = governor_json(status);
  out["signals"] = signals_json(status.signals);
  put_figures(out, status);
  out["lease"] = lease_json(status);
  out["alerts"] = alerts_json(status.alerts);
  out["relay"] = status.relay ? relay_json(*status.relay) : Json(nullptr);
  out["figures"] = {{"age_s", status.store.age_s}, {"error", status.store.error}};
  // Names and reasons come from outside and may hold anything: what is not UTF-8 is replaced.
  return out.dump(indent ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

std::string governor_to_json(const Status& status) {
  const Json out = {{"version", 1}, {"governor", governor_json(status)}, {"signals", signals_json(status.signals)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string override_to_json(const std::optional<ports::Override>& limit) {
  const Json out = {{"override", override_json(limit, std::nullopt)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Result<Status> from_json(std::string_view text) {
  try {
    return status_from(Json::parse(text));
  } catch (const nlohmann::json::exception& e) {
    return base::fail(base::ErrorClass::kRejected, std::string("this is not a status of Spillway: ") + e.what());
  }
}

}  // namespace spillway::status
