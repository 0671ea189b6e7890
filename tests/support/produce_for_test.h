// A few records by librdkafka, for the tests of the test services.
#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {

inline std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> make_producer(const std::string& bootstrap) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char error[256];
  rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), error, sizeof error);
  rd_kafka_conf_set(conf, "enable.idempotence", "true", error, sizeof error);
  rd_kafka_conf_set(conf, "reconnect.backoff.max.ms", "200", error, sizeof error);
  rd_kafka_conf_set(conf, "log_level", "0", error, sizeof error);
  return {rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error), &rd_kafka_destroy};
}

struct Outgoing {
  std::string topic;
  std::int32_t partition = RD_KAFKA_PARTITION_UA;
  std::optional<std::string> key{};
  std::optional<std::string> value{};
  std::int64_t timestamp_ms = 0;  // 0: now
  std::vector<std::pair<std::string, std::optional<std::string>>> headers{};
};

// By the call that takes an array: the macros of the variadic one are not standard C++.
inline bool enqueue(rd_kafka_t* producer, const Outgoing& record) {
  std::vector<rd_kafka_vu_t> fields;
  const auto add = [&](rd_kafka_vtype_t type) -> auto& {
    fields.push_back({});
    fields.back().vtype = type;
    return fields.back().u;
  };
  const auto bytes = [](auto& memory, const std::optional<std::string>& text) {
    memory.ptr = text ? const_cast<char*>(text->data()) : nullptr;
    memory.size = text ? text->size() : 0;
  };
  add(RD_KAFKA_VTYPE_TOPIC).cstr = record.topic.c_str();
  add(RD_KAFKA_VTYPE_PARTITION).i32 = record.partition;
  bytes(add(RD_KAFKA_VTYPE_KEY).mem, record.key);
  bytes(add(RD_KAFKA_VTYPE_VALUE).mem, record.value);
  add(RD_KAFKA_VTYPE_TIMESTAMP).i64 = record.timestamp_ms;
  add(RD_KAFKA_VTYPE_MSGFLAGS).i = RD_KAFKA_MSG_F_COPY;
  for (const auto& [name, value] : record.headers) {
    auto& header = add(RD_KAFKA_VTYPE_HEADER).header;
    header.name = name.c_str();
    header.val = value ? value->data() : nullptr;
    header.size = value ? static_cast<ssize_t>(value->size()) : 0;
  }
  rd_kafka_error_t* error = rd_kafka_produceva(producer, fields.data(), fields.size());
  const bool accepted = error == nullptr;
  if (!accepted) rd_kafka_error_destroy(error);
  return accepted;
}

// True when everything is acknowledged within `limit_ms`.
inline bool produce(rd_kafka_t* producer, const std::string& topic, const std::string& key, const std::string& value,
                    int limit_ms = 20000) {
  EXPECT_TRUE(enqueue(producer, {.topic = topic, .key = key, .value = value}));
  return rd_kafka_flush(producer, limit_ms) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace spillway::testing
