#include "kafka/properties.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string_view>

namespace spillway::kafka {
namespace {

using ConfPtr = std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)>;

// Values differ from librdkafka's defaults because an outbox must neither lose nor reorder, and because it bounds what
// is in flight itself (KafkaSinkSettings), so librdkafka's own queue limits must not bind first.
const Properties& defaults() {
  static const Properties kDefaults = {
      {"client.id", "spillway"},
      {"enable.idempotence", "true"},
      {"acks", "all"},
      {"message.timeout.ms", "0"},          // a clock never drops a row
      {"message.max.bytes", "1000000000"},  // the topic's own limit decides
      {"batch.size", "1000000"},
      {"linger.ms", "1"},
      {"queue.buffering.max.messages", "10000000"},
      {"queue.buffering.max.kbytes", "2147483647"},
      {"socket.nagle.disable", "true"},
      {"socket.keepalive.enable", "true"},
      {"reconnect.backoff.max.ms", "5000"},
      {"topic.metadata.propagation.max.ms", "1000"},  // the directory asks by itself and waits longer
      {"statistics.interval.ms", "1000"},
  };
  return kDefaults;
}

// Each would break a promise, or what the sink itself relies on.
struct Forbidden {
  std::string_view name;
  std::string_view allowed;  // the one value that is fine; empty = none
  std::string_view why;
};
constexpr std::array kForbidden = {
    Forbidden{"enable.idempotence", "true", "without it retries duplicate and reorder the events of a key"},
    Forbidden{"transactional.id", "", "it is set by `delivery: exactly_once`, leave it out here"},
    Forbidden{"delivery.report.only.error", "false", "without acknowledgements no row would ever count as published"},
    Forbidden{"enabled_events", "", "it is set by Spillway, leave it out"},
    Forbidden{"log.queue", "true", "it is set by Spillway, leave it out"},
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kAliases = {{
    {"request.required.acks", "acks"},
    {"delivery.timeout.ms", "message.timeout.ms"},
    {"queue.buffering.max.ms", "linger.ms"},
    {"compression.type", "compression.codec"},
    {"max.in.flight", "max.in.flight.requests.per.connection"},
    {"message.send.max.retries", "retries"},
    {"metadata.broker.list", "bootstrap.servers"},
    {"sasl.mechanism", "sasl.mechanisms"},
    {"auto.commit.enable", "enable.auto.commit"},
}};

std::string_view canonical(std::string_view name) {
  const auto* found = std::ranges::find(kAliases, name, &std::pair<std::string_view, std::string_view>::first);
  return found == kAliases.end() ? name : found->second;
}

bool holds_a_secret(std::string_view name) {
  return std::ranges::any_of(std::array<std::string_view, 5>{"password", "secret", ".pem", "token", "oauthbearer"},
                             [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> names_in(const char** dump, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < count; i += 2) names.emplace_back(dump[i]);
  rd_kafka_conf_dump_free(dump, count);
  return names;
}

std::vector<std::string> known_names() {
  const ConfPtr conf(rd_kafka_conf_new(), &rd_kafka_conf_destroy);
  std::size_t count = 0;
  const char** dump = rd_kafka_conf_dump(conf.get(), &count);
  std::vector<std::string> names = names_in(dump, count);
  rd_kafka_topic_conf_t* topic = rd_kafka_topic_conf_new();
  dump = rd_kafka_topic_conf_dump(topic, &count);
  std::ranges::move(names_in(dump, count), std::back_inserter(names));
  rd_kafka_topic_conf_destroy(topic);
  for (const auto& [alias, name] : kAliases) names.insert(names.end(), {std::string(alias), std::string(name)});
  return names;
}

std::string nearest_name(std::string_view name) {
  std::string best;
  std::size_t best_distance = name.size() / 3 + 2;
  for (const std::string& known : known_names()) {
    const std::size_t d = distance(name, known);
    if (d < best_distance) {
      best_distance = d;
      best = known;
    }
  }
  return best;
}

// Empty where librdkafka takes it.
std::string fault_of_setting(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  std::array<char, 512> text{};
  const rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text.data(), text.size());
  if (result == RD_KAFKA_CONF_OK) return {};
  if (result == RD_KAFKA_CONF_UNKNOWN) {
    const std::string nearest = nearest_name(name);
    return fmt::format("kafka.{}: librdkafka {} knows no such property{}", name, rd_kafka_version_str(),
                       nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest));
  }
  if (holds_a_secret(name)) return fmt::format("kafka.{}: librdkafka refuses its value", name);
  return fmt::format("kafka.{}: {}", name, text.data());
}

std::vector<std::string> forbidden_settings(const Properties& properties) {
  std::vector<std::string> faults;
  for (const auto& [name, value] : properties) {
    const auto* rule = std::ranges::find(kForbidden, canonical(name), &Forbidden::name);
    if (rule == kForbidden.end() || (!rule->allowed.empty() && value == rule->allowed)) continue;
    faults.push_back(fmt::format("kafka.{}: {}", name, rule->why));
  }
  const std::string acks = effective(properties, "acks");
  if (acks != "all" && acks != "-1") {
    faults.push_back(
        fmt::format("kafka.acks: must be all, not {}: a row counts as published only when all in-sync "
                    "replicas have it",
                    acks));
  }
  if (effective(properties, "bootstrap.servers").empty() && effective(properties, "test.mock.num.brokers").empty()) {
    faults.push_back("kafka.bootstrap.servers: is missing, expected host:port[,host:port…]");
  }
  return faults;
}

// What librdkafka checks only when a producer is made. Without servers it connects nowhere.
std::string fault_of_the_whole(const Properties& properties) {
  Properties unconnected;
  std::ranges::copy_if(properties, std::back_inserter(unconnected), [](const auto& property) {
    return canonical(property.first) != "bootstrap.servers" && property.first != "test.mock.num.brokers";
  });
  unconnected.emplace_back("log.queue", "true");
  base::Result<rd_kafka_conf_t*> conf = make_conf(unconnected);
  if (!conf) return conf.error().message;
  std::array<char, 512> text{};
  rd_kafka_t* producer = rd_kafka_new(RD_KAFKA_PRODUCER, *conf, text.data(), text.size());
  if (producer == nullptr) {
    rd_kafka_conf_destroy(*conf);
    return fmt::format("kafka: {}", text.data());
  }
  rd_kafka_destroy(producer);
  return {};
}

}  // namespace

std::string effective(const Properties& properties, const std::string& name) {
  std::string value;
  for (const Properties* source : {&defaults(), &properties}) {
    for (const auto& [property, setting] : *source) {
      if (canonical(property) == canonical(name)) value = setting;
    }
  }
  return value;
}

base::Result<rd_kafka_conf_s*> make_conf(const Properties& properties) {
  ConfPtr conf(rd_kafka_conf_new(), &rd_kafka_conf_destroy);
  for (const Properties* source : {&defaults(), &properties}) {
    for (const auto& [name, value] : *source) {
      std::string fault = fault_of_setting(conf.get(), name, value);
      if (!fault.empty()) return base::fail(base::ErrorClass::kMisconfigured, std::move(fault));
    }
  }
  return conf.release();
}

std::vector<std::string> property_faults(const Properties& properties) {
  std::vector<std::string> faults;
  const ConfPtr conf(rd_kafka_conf_new(), &rd_kafka_conf_destroy);
  for (const auto& [name, value] : properties) {
    std::string fault = fault_of_setting(conf.get(), name, value);
    if (!fault.empty()) faults.push_back(std::move(fault));
  }
  std::ranges::move(forbidden_settings(properties), std::back_inserter(faults));
  if (faults.empty()) {
    std::string fault = fault_of_the_whole(properties);
    if (!fault.empty()) faults.push_back(std::move(fault));
  }
  return faults;
}

base::Status check_properties(const Properties& properties) {
  const std::vector<std::string> faults = property_faults(properties);
  if (faults.empty()) return {};
  return base::fail(base::ErrorClass::kMisconfigured, fmt::format("{}", fmt::join(faults, "; ")));
}

}  // namespace spillway::kafka
