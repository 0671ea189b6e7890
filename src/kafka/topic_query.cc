#include "kafka/topic_query.h"

#include <fmt/core.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

namespace spillway::kafka {
namespace {

using TopicPtr = std::unique_ptr<rd_kafka_topic_t, decltype(&rd_kafka_topic_destroy)>;
using QueuePtr = std::unique_ptr<rd_kafka_queue_t, decltype(&rd_kafka_queue_destroy)>;
using EventPtr = std::unique_ptr<rd_kafka_event_t, decltype(&rd_kafka_event_destroy)>;
using OptionsPtr = std::unique_ptr<rd_kafka_AdminOptions_t, decltype(&rd_kafka_AdminOptions_destroy)>;

std::optional<ports::Topic> interpret(const rd_kafka_metadata_topic_t& answer, const std::string& name) {
  using ports::TopicState;
  switch (answer.err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
      if (answer.partition_cnt == 0) return ports::Topic{};
      return ports::Topic{TopicState::kReady, answer.partition_cnt, {}};
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
      return ports::Topic{TopicState::kMissing, 0, fmt::format("topic {} does not exist on the broker", name)};
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
      return ports::Topic{
          TopicState::kRefused, 0,
          fmt::format("topic {}: {} ({})", name, rd_kafka_err2str(answer.err), rd_kafka_err2name(answer.err))};
    default: return ports::Topic{};
  }
}

TopicConfig read_config(const rd_kafka_ConfigResource_t* resource) {
  TopicConfig config;
  std::size_t count = 0;
  const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(resource, &count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = rd_kafka_ConfigEntry_name(entries[i]);
    const char* text = rd_kafka_ConfigEntry_value(entries[i]);
    const std::string_view value = text == nullptr ? "" : text;
    if (name == "cleanup.policy") config.compacted = value.find("compact") != std::string_view::npos;
    if (name == "max.message.bytes") {
      std::int64_t bytes = 0;
      if (std::from_chars(value.data(), value.data() + value.size(), bytes).ec == std::errc{}) {
        config.max_message_bytes = bytes;
      }
    }
  }
  return config;
}

std::vector<TopicConfig> read_configs(const rd_kafka_event_t* event, const std::vector<std::string>& names) {
  std::vector<TopicConfig> configs(names.size());
  std::size_t count = 0;
  const rd_kafka_ConfigResource_t** resources = rd_kafka_DescribeConfigs_result_resources(
      rd_kafka_event_DescribeConfigs_result(const_cast<rd_kafka_event_t*>(event)), &count);
  for (std::size_t i = 0; i < count; ++i) {
    if (rd_kafka_ConfigResource_error(resources[i]) != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    const auto found = std::ranges::find(names, std::string_view(rd_kafka_ConfigResource_name(resources[i])));
    if (found != names.end()) configs[static_cast<std::size_t>(found - names.begin())] = read_config(resources[i]);
  }
  return configs;
}

}  // namespace

std::optional<ports::Topic> ask_topic(rd_kafka_s* producer, const std::string& name, std::chrono::milliseconds limit) {
  const TopicPtr topic(rd_kafka_topic_new(producer, name.c_str(), nullptr), &rd_kafka_topic_destroy);
  if (!topic) return std::nullopt;
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(producer, 0, topic.get(), &metadata, static_cast<int>(limit.count()));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
  std::optional<ports::Topic> answer;
  if (metadata->topic_cnt == 1) answer = interpret(metadata->topics[0], name);
  rd_kafka_metadata_destroy(metadata);
  return answer;
}

std::optional<std::vector<TopicConfig>> ask_configs(rd_kafka_s* producer, const std::vector<std::string>& names,
                                                    std::chrono::milliseconds limit) {
  std::vector<rd_kafka_ConfigResource_t*> resources;
  for (const std::string& name : names) {
    resources.push_back(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name.c_str()));
  }
  const OptionsPtr options(rd_kafka_AdminOptions_new(producer, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS),
                           &rd_kafka_AdminOptions_destroy);
  rd_kafka_AdminOptions_set_request_timeout(options.get(), static_cast<int>(limit.count()), nullptr, 0);
  const QueuePtr queue(rd_kafka_queue_new(producer), &rd_kafka_queue_destroy);
  rd_kafka_DescribeConfigs(producer, resources.data(), resources.size(), options.get(), queue.get());
  const EventPtr event(rd_kafka_queue_poll(queue.get(), static_cast<int>(2 * limit.count())), &rd_kafka_event_destroy);
  rd_kafka_ConfigResource_destroy_array(resources.data(), resources.size());
  if (!event || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
  return read_configs(event.get(), names);
}

std::string name_fault(const std::string& name) {
  constexpr std::size_t kLongest = 249;
  if (name.empty()) return "a topic name must not be empty";
  if (name == "." || name == "..") return fmt::format("\"{}\" cannot be a topic name", name);
  if (name.size() > kLongest) {
    return fmt::format("the topic name beginning with {} has {} characters, at most {} are possible",
                       name.substr(0, 40), name.size(), kLongest);
  }
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  if (std::ranges::all_of(name, legal)) return {};
  return fmt::format("topic name \"{}\": only ASCII letters, digits, '.', '_' and '-' are possible", name);
}

}  // namespace spillway::kafka
