#include "config/key_table.h"

#include <algorithm>
#include <array>

namespace spillway::config {
namespace {

#define CONFIG(MEMBER) [](Subject s) -> Field { return Scalar(&s.config->MEMBER); }
#define CONFIG_CHOICE(MEMBER) [](Subject s) -> Field { return Scalar(ChoiceRef::to(s.config->MEMBER)); }
#define CONFIG_COLLECTION(MEMBER) [](Subject s) -> Field { return Collection(&s.config->MEMBER); }
#define SIGNAL(MEMBER) [](Subject s) -> Field { return Scalar(&s.signal->MEMBER); }
#define RULE(MEMBER) [](Subject s) -> Field { return Scalar(&s.rule->MEMBER); }

constexpr double kMillisecond = 1e-3;
constexpr double kMinute = 60;
constexpr double kHour = 3600;
constexpr double kDay = 24 * kHour;
constexpr double kKiB = 1024;
constexpr double kGiB = 1024 * 1024 * 1024;
constexpr unsigned kPulled = bit(SignalKind::kPrometheus) | bit(SignalKind::kKafkaLag) | bit(SignalKind::kHttpProbe);
constexpr unsigned kTimed = kEveryKind & ~bit(SignalKind::kKafkaLag);

const std::array kTable = {
    KeySpec{.name = "outbox.store",
            .field = CONFIG(outbox.store),
            .meaning = "Where the outbox is: a PostgreSQL database or a SQLite file.",
            .type = "URL: postgresql://…, postgres://… or sqlite:PATH",
            .check = check_store,
            .required = true},
    KeySpec{.name = "outbox.name",
            .field = CONFIG(outbox.name),
            .meaning = "Lease and progress are kept under this name.",
            .check = check_name},
    KeySpec{.name = "outbox.table",
            .field = CONFIG(outbox.table),
            .meaning = "The table that holds the outbox.",
            .type = "TABLE or SCHEMA.TABLE",
            .shown_default = "spillway.outbox; spillway_outbox in SQLite",
            .check = check_table},
    KeySpec{.name = "outbox.preset",
            .field = CONFIG_CHOICE(outbox.preset),
            .meaning = "The layout of the table: Spillway's own, or that of another outbox."},
    KeySpec{.name = "outbox.columns",
            .field = CONFIG_COLLECTION(outbox.columns),
            .meaning = "Names of single columns, on top of the preset. `order` is the one that grows in the order of "
                       "publication."},
    KeySpec{.name = "outbox.cleanup.keep",
            .field = CONFIG(outbox.cleanup.keep),
            .meaning = "Published rows stay at least this long; `never`: they are never removed.",
            .none = "never"},
    KeySpec{.name = "outbox.poll.busy",
            .field = CONFIG(outbox.poll.busy),
            .meaning = "Pause between two looks at the table while events arrive.",
            .range = {kMillisecond, kMinute}},
    KeySpec{.name = "outbox.poll.idle",
            .field = CONFIG(outbox.poll.idle),
            .meaning = "The same while nothing arrives; at least `busy`.",
            .range = {kMillisecond, kMinute}},
    KeySpec{.name = "outbox.listen",
            .field = CONFIG(outbox.listen),
            .meaning =
                "A direct connection, past any pooler, for LISTEN, where `init --notify` was used; empty: poll only.",
            .type = "URL: postgresql://… or postgres://…",
            .check = check_postgres_url},
    KeySpec{.name = "kafka",
            .field = CONFIG_COLLECTION(kafka),
            .meaning = "librdkafka properties under their own names, passed on as written; safe values are set where "
                       "this is silent. `bootstrap.servers` is required."},
    KeySpec{.name = "route.topic",
            .field = CONFIG(route.topic),
            .meaning = "The topic of an event.",
            .type = "template of {aggregatetype}, {aggregateid}, {type}, {id}",
            .check = check_topic_template},
    KeySpec{.name = "route.key",
            .field = CONFIG(route.key),
            .meaning = "The key of the record; events of one key keep their order.",
            .type = "template of {aggregatetype}, {aggregateid}, {type}, {id}",
            .check = check_template},
    KeySpec{.name = "route.reconcile_topic",
            .field = CONFIG(route.reconcile_topic),
            .meaning = "The topic for what triage leaves to a person.",
            .type = "topic",
            .check = check_topic},
    KeySpec{.name = "route.on_rejected",
            .field = CONFIG_CHOICE(route.on_rejected),
            .meaning = "What a row that can never be sent does to later rows of its key: they go on (`set_aside`) or "
                       "wait (`stop_key`)."},
    KeySpec{.name = "route.unknown_topic_after",
            .field = CONFIG(route.unknown_topic_after),
            .meaning = "How long rows wait for a topic that does not exist before they are set aside.",
            .range = {0, kDay}},
    KeySpec{.name = "route.cloudevents",
            .field = CONFIG(route.cloudevents),
            .meaning = "Adds the headers of CloudEvents' binary mode (ce_*)."},
    KeySpec{.name = "delivery",
            .field = CONFIG_CHOICE(delivery),
            .meaning = "Whether a reader of committed records may see an event twice after a failure.",
            .choice_not_yet = "exactly_once"},
    KeySpec{
        .name = "lanes.live_age",
        .field = CONFIG(lanes.live_age),
        .meaning =
            "Further behind than this, recovery begins: what is visible then is backlog, what commits later is live.",
        .range = {kMillisecond, kDay}},
    KeySpec{.name = "lanes.key_with_backlog",
            .field = CONFIG_CHOICE(lanes.key_with_backlog),
            .meaning = "A live event whose key still has backlog: the key's backlog goes first (`promote`) or the "
                       "event waits its turn."},
    KeySpec{.name = "lanes.hold_live",
            .field = CONFIG_CHOICE(lanes.hold_live),
            .meaning = "Whether live events are held in the outbox while downstream has collapsed."},
    KeySpec{.name = "governor.law",
            .field = CONFIG_CHOICE(governor.law),
            .meaning = "How the rate follows downstream health; `unlimited` ignores `min` and `max`.",
            .reload = true},
    KeySpec{.name = "governor.min",
            .field = CONFIG(governor.min),
            .meaning = "The least total rate, live and backlog together.",
            .reload = true},
    KeySpec{.name = "governor.max",
            .field = CONFIG(governor.max),
            .meaning = "The highest total rate; `none`: no bound.",
            .none = "none",
            .range = {.low = 0, .above_low = true},
            .reload = true},
    KeySpec{.name = "governor.backlog_min",
            .field = CONFIG(governor.backlog_min),
            .meaning = "What the backlog gets even where live traffic takes all.",
            .reload = true},
    KeySpec{.name = "governor.tick",
            .field = CONFIG(governor.tick),
            .meaning = "Time between two decisions.",
            .range = {10 * kMillisecond, 10},
            .reload = true},
    KeySpec{.name = "governor.aimd.increase",
            .field = CONFIG(governor.aimd.increase),
            .meaning = "Law aimd: added once a second while healthy.",
            .range = {.low = 0, .above_low = true},
            .reload = true},
    KeySpec{.name = "governor.aimd.decrease",
            .field = CONFIG(governor.aimd.decrease),
            .meaning = "Law aimd: the factor on the total when a ceiling is exceeded.",
            .range = {0.01, 0.99},
            .reload = true},
    KeySpec{.name = "signals",
            .field = CONFIG_COLLECTION(signals),
            .meaning = "What downstream says about its health; the worst one decides.",
            .reload = true},
    KeySpec{.name = "signals[].name",
            .field = SIGNAL(name),
            .meaning = "Unique; the label in metrics.",
            .check = check_name,
            .required = true,
            .reload = true},
    KeySpec{.name = "signals[].kind",
            .field = [](Subject s) -> Field { return Scalar(ChoiceRef::to(s.signal->kind)); },
            .meaning = "Where the signal comes from.",
            .shown_default = "-",
            .required = true,
            .reload = true},
    KeySpec{.name = "signals[].url",
            .field = [](Subject s) -> Field { return Scalar(SingleUrl{&s.signal->urls}); },
            .meaning = "The target.",
            .type = "URL: http://… or https://…",
            .check = check_http_url,
            .reload = true,
            .kinds = bit(SignalKind::kPrometheus) | bit(SignalKind::kHttpProbe)},
    KeySpec{.name = "signals[].urls",
            .field = [](Subject s) -> Field { return Collection(&s.signal->urls); },
            .meaning = "Several targets of one service, merged.",
            .type = "list of URLs",
            .check = check_http_url,
            .reload = true,
            .kinds = bit(SignalKind::kPrometheus)},
    KeySpec{.name = "signals[].every",
            .field = SIGNAL(every),
            .meaning = "Time between two samples.",
            .range = {100 * kMillisecond, kMinute},
            .reload = true,
            .kinds = kPulled},
    KeySpec{.name = "signals[].timeout",
            .field = SIGNAL(timeout),
            .meaning = "A sample that takes longer is missing; at most `every`.",
            .shown_default = "500ms, or `every` where that is shorter",
            .range = {10 * kMillisecond, kMinute},
            .reload = true,
            .kinds = kPulled},
    KeySpec{.name = "signals[].dead_time",
            .field = SIGNAL(dead_time),
            .meaning =
                "From sending an event to its visible effect; less than 1 s counts as 1 s. `auto` is computed, not "
                "measured: 1 s and `every`, and for kafka_lag 5 s more, the interval of commits by default.",
            .none = "auto",
            .range = {0, 5 * kMinute},
            .reload = true},
    KeySpec{.name = "signals[].histogram",
            .field = SIGNAL(histogram),
            .meaning = "Name of the latency histogram, without _bucket.",
            .check = check_not_empty,
            .reload = true,
            .kinds = bit(SignalKind::kPrometheus)},
    KeySpec{.name = "signals[].errors",
            .field = SIGNAL(errors),
            .meaning = "Name of the counter of errors.",
            .check = check_not_empty,
            .reload = true,
            .kinds = bit(SignalKind::kPrometheus)},
    KeySpec{.name = "signals[].group",
            .field = SIGNAL(group),
            .meaning = "The consumer group whose lag is watched.",
            .check = check_not_empty,
            .reload = true,
            .kinds = bit(SignalKind::kKafkaLag)},
    KeySpec{.name = "signals[].ceiling",
            .field = SIGNAL(ceiling),
            .meaning = "The longest acceptable lag: events waiting divided by the rate of consumption.",
            .range = {kMillisecond, kDay},
            .reload = true,
            .kinds = bit(SignalKind::kKafkaLag)},
    KeySpec{.name = "signals[].latency_ceiling",
            .field = SIGNAL(latency_ceiling),
            .meaning = "The highest acceptable p99.",
            .range = {kMillisecond, kHour},
            .reload = true,
            .kinds = kTimed},
    KeySpec{.name = "signals[].error_ceiling",
            .field = SIGNAL(error_ceiling),
            .meaning = "The highest acceptable share of errors.",
            .range = {0, 1, true},
            .reload = true,
            .kinds = bit(SignalKind::kPrometheus) | bit(SignalKind::kHttpProbe) | bit(SignalKind::kPush)},
    KeySpec{.name = "signals[].tolerance",
            .field = SIGNAL(tolerance),
            .meaning = "How much of the time the ceiling may be exceeded.",
            .range = {0, 0.5},
            .reload = true},
    KeySpec{.name = "triage.replay_window",
            .field = CONFIG(triage.replay_window),
            .meaning = "Events older than this go to reconcile; `none`: nothing is judged by its age.",
            .none = "none",
            .range = {.low = 0, .above_low = true},
            .reload = true},
    KeySpec{.name = "triage.rules",
            .field = CONFIG_COLLECTION(triage.rules),
            .meaning = "What to do with backlog that may no longer matter. The first rule that matches wins; none "
                       "matches: publish.",
            .reload = true},
    KeySpec{.name = "triage.rules[].name",
            .field = RULE(name),
            .meaning = "Unique; named in the audit.",
            .check = check_name,
            .required = true,
            .reload = true},
    KeySpec{.name = "triage.rules[].when.type",
            .field = RULE(type),
            .meaning = "The event's type, * stands for any text.",
            .type = "glob",
            .check = check_not_empty,
            .reload = true},
    KeySpec{.name = "triage.rules[].when.key",
            .field = RULE(key),
            .meaning = "The key of its record, * stands for any text.",
            .type = "glob",
            .check = check_not_empty,
            .reload = true},
    KeySpec{.name = "triage.rules[].when.header",
            .field = [](Subject s) -> Field { return Collection(&s.rule->header); },
            .meaning = "Its own headers hold these values: {tenant: acme}. A name that begins with / is a JSON pointer "
                       "into them.",
            .type = "names and values",
            .reload = true},
    KeySpec{.name = "triage.rules[].when.sql",
            .field = RULE(sql),
            .meaning =
                "A query that returns a row where the rule applies; $aggregateid, $aggregatetype, $type, $id, $seq and "
                "$key are the event's.",
            .type = "SQL",
            .check = check_not_empty,
            .reload = true},
    KeySpec{.name = "triage.rules[].when.older_than",
            .field = RULE(older_than),
            .meaning = "The event is at least this old.",
            .range = {.low = 0, .above_low = true},
            .reload = true},
    KeySpec{.name = "triage.rules[].when.newer_for_key",
            .field = RULE(newer_for_key),
            .meaning = "A newer event of the same aggregate and type is waiting.",
            .reload = true},
    KeySpec{.name = "triage.rules[].then",
            .field = [](Subject s) -> Field { return Scalar(ChoiceRef::to(s.rule->then)); },
            .meaning = "The verdict.",
            .shown_default = "-",
            .required = true,
            .reload = true},
    KeySpec{.name = "limits.bytes_in_flight",
            .field = CONFIG(limits.bytes_in_flight),
            .meaning = "Memory for events between table and broker.",
            .range = {64 * kKiB, 64 * kGiB}},
    KeySpec{.name = "limits.events_in_flight",
            .field = CONFIG(limits.events_in_flight),
            .meaning = "Events between table and broker.",
            .range = {1, 10e6}},
    KeySpec{.name = "limits.ahead",
            .field = CONFIG(limits.ahead),
            .meaning = "Events acknowledged beyond the oldest that is not; a crash repeats at most these.",
            .range = {1, 100e6}},
    KeySpec{.name = "shutdown.limit",
            .field = CONFIG(shutdown.limit),
            .meaning = "How long work in flight may take to finish after SIGTERM.",
            .range = {0, kHour}},
    KeySpec{.name = "log.level",
            .field = CONFIG_CHOICE(log.level),
            .meaning = "The least severe messages that are written.",
            .reload = true},
    KeySpec{.name = "log.format", .field = CONFIG_CHOICE(log.format), .meaning = "How messages are written."},
    KeySpec{.name = "http.listen",
            .field = CONFIG(http.listen),
            .meaning = "Address of health, metrics, API and console; `none`: no server. Port 0: any free one.",
            .none = "none"},
    KeySpec{.name = "http.token",
            .field = CONFIG(http.token),
            .meaning = "Needed by changes over HTTP, and to listen beyond loopback.",
            .secret = true},
    KeySpec{.name = "http.insecure",
            .field = CONFIG(http.insecure),
            .meaning = "Says that listening beyond loopback without a token or without encryption is meant."},
    KeySpec{.name = "http.show_payloads",
            .field = CONFIG(http.show_payloads),
            .meaning = "Lets the console show the content of events.",
            .not_yet = true},
};

#undef CONFIG
#undef CONFIG_CHOICE
#undef CONFIG_COLLECTION
#undef SIGNAL
#undef RULE

constexpr auto kColumnNames =
    std::to_array<std::string_view>({"order", "id", "aggregatetype", "aggregateid", "type", "payload", "headers",
                                     "created_at", "tx", "topic", "key", "status", "status_pending", "status_done"});

}  // namespace

std::span<const KeySpec> key_table() { return kTable; }

const KeySpec* find_key(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &KeySpec::name);
  return found == kTable.end() ? nullptr : &*found;
}

std::vector<std::string_view> children_of(std::string_view prefix) {
  std::vector<std::string_view> children;
  for (const KeySpec& spec : kTable) {
    std::string_view rest = spec.name;
    if (!prefix.empty()) {
      if (!rest.starts_with(prefix) || rest.size() <= prefix.size() || rest[prefix.size()] != '.') continue;
      rest.remove_prefix(prefix.size() + 1);
    }
    const auto child = rest.substr(0, rest.find_first_of(".["));
    if (std::ranges::find(children, child) == children.end()) children.push_back(child);
  }
  return children;
}

Names column_names() { return kColumnNames; }

}  // namespace spillway::config
