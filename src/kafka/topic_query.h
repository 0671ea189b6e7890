// Blocking questions about topics to the brokers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ports/sink.h"

struct rd_kafka_s;

namespace spillway::kafka {

// Empty where no broker answered in time. kMissing, kRefused and kReady are the broker's word; kResolving means that it
// knows the topic but cannot serve it yet.
std::optional<ports::Topic> ask_topic(rd_kafka_s* producer, const std::string& name, std::chrono::milliseconds limit);

struct TopicConfig {
  std::optional<std::int64_t> max_message_bytes;
  bool compacted = false;
};

// In the order of `names`; empty where the broker does not answer in time or does not answer such questions at all.
std::optional<std::vector<TopicConfig>> ask_configs(rd_kafka_s* producer, const std::vector<std::string>& names,
                                                    std::chrono::milliseconds limit);

// What is wrong with a name by Kafka's rules; empty where nothing is.
std::string name_fault(const std::string& name);

}  // namespace spillway::kafka
