// The whole configuration as plain values. A `Config{}` holds the documented defaults; what has none is empty.
// The key of each member is its path (`outbox.cleanup.keep`); key_table.h describes every one of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "config/choices.h"
#include "config/origin.h"
#include "config/values.h"

namespace spillway::config {

using base::Duration;

enum class StoreKind { kPostgres, kSqlite };

struct OutboxConfig {
  struct Cleanup {
    std::optional<Duration> keep = std::chrono::hours(24);  // empty: published rows are never removed
  };
  struct Poll {
    Duration busy = std::chrono::milliseconds(2);
    Duration idle = std::chrono::milliseconds(50);
  };

  std::string store;  // postgresql://…, postgres://… or sqlite:PATH; required
  std::string name = "default";
  std::string table =
      "spillway.outbox";  // set to spillway_outbox on load where the store is SQLite and it is not given
  Preset preset = Preset::kNative;
  std::map<std::string, std::string> columns;  // Spillway's name of a column → its name in the table
  Cleanup cleanup;
  Poll poll;
  std::string listen;  // PostgreSQL URL for LISTEN; empty: poll only

  StoreKind store_kind() const { return store.starts_with("sqlite:") ? StoreKind::kSqlite : StoreKind::kPostgres; }
  // The path of a SQLite store; empty for PostgreSQL.
  std::string_view sqlite_path() const {
    return store_kind() == StoreKind::kSqlite ? std::string_view(store).substr(sizeof("sqlite:") - 1) : "";
  }
};

// One librdkafka property, as written. Unknown names are for librdkafka to refuse.
struct KafkaProperty {
  std::string name;
  std::string value;
  Origin origin;
};

struct KafkaConfig {
  std::vector<KafkaProperty> properties;  // in the order of the file, then those that only the environment names

  // The last value given under exactly this name; null where there is none.
  const std::string* find(std::string_view name) const;
};

struct RouteConfig {
  std::string topic = "outbox.event.{aggregatetype}";
  std::string key = "{aggregateid}";
  std::string reconcile_topic = "outbox.reconcile";
  OnRejected on_rejected = OnRejected::kSetAside;
  Duration unknown_topic_after = std::chrono::seconds(30);
  bool cloudevents = false;
};

struct LanesConfig {
  Duration live_age = std::chrono::seconds(5);
  KeyWithBacklog key_with_backlog = KeyWithBacklog::kPromote;
  HoldLive hold_live = HoldLive::kOnCollapse;
};

struct GovernorConfig {
  struct Aimd {
    Rate increase{50};
    double decrease = 0.5;
  };

  Law law = Law::kAdaptive;
  Rate min{50};
  std::optional<Rate> max;  // empty: no upper bound
  Rate backlog_min{0};
  Duration tick = std::chrono::milliseconds(250);
  Aimd aimd;
};

// One entry of `signals`. Which members a kind uses is in the key table; the loader refuses the others.
struct SignalConfig {
  std::string name{};  // unique; letters, digits, '_', '-', '.'
  SignalKind kind = SignalKind::kPrometheus;
  std::vector<std::string> urls{};  // `url` and `urls` both end here
  std::string ca{};                 // file of PEM certificates; empty: those that the system trusts
  Duration every = std::chrono::seconds(1);
  Duration timeout = std::chrono::milliseconds(500);            // never longer than `every`
  std::optional<Duration> dead_time = std::chrono::seconds(1);  // empty: signals::describe computes it
  std::string histogram{};
  std::string errors{};
  std::string group{};
  std::optional<Duration> ceiling{};
  std::optional<Duration> latency_ceiling{};
  std::optional<Ratio> error_ceiling{};
  Ratio tolerance{0.02};
};

// One entry of `triage.rules`. Every condition given must hold; at least one is.
struct TriageRule {
  std::string name;                           // unique
  std::string type;                           // glob over the event type; empty: any
  std::string key;                            // glob over the key of its record; empty: any
  std::map<std::string, std::string> header;  // header, or JSON pointer into the headers → value; empty: any
  std::string sql;                            // empty: not asked
  std::optional<Duration> older_than;         // empty: any age
  bool newer_for_key = false;
  Verdict then = Verdict::kPublish;
};

struct TriageConfig {
  std::optional<Duration> replay_window;  // empty: nothing is judged by its age
  std::vector<TriageRule> rules;          // the first that matches wins
};

struct LimitsConfig {
  Bytes bytes_in_flight{16 << 20};
  std::int64_t events_in_flight = 20'000;
  std::int64_t ahead = 100'000;  // events acknowledged beyond the oldest that is not
};

struct ShutdownConfig {
  Duration limit = std::chrono::seconds(5);
};

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
};

struct HttpConfig {
  std::optional<ListenAddress> listen = ListenAddress{"127.0.0.1", 8787};  // empty: no HTTP server
  std::string token;                                                       // empty: none. Secret
  bool insecure = false;
  bool show_payloads = false;
};

struct Config {
  OutboxConfig outbox;
  KafkaConfig kafka;
  RouteConfig route;
  Delivery delivery = Delivery::kAtLeastOnce;
  LanesConfig lanes;
  GovernorConfig governor;
  std::vector<SignalConfig> signals;
  TriageConfig triage;
  LimitsConfig limits;
  ShutdownConfig shutdown;
  LogConfig log;
  HttpConfig http;

  // Key path → where its value came from; entries of lists by index (`signals[0].name`). What is absent is a default.
  std::map<std::string, Origin> origins;

  Origin origin_of(const std::string& key) const;
};

}  // namespace spillway::config
