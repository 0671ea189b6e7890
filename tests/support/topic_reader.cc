#include "support/topic_reader.h"

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>

namespace spillway::testing {
namespace {

constexpr int kAnswerMs = 20000;
constexpr int kPollMs = 100;
constexpr std::chrono::seconds kLimit{60};

struct Destroy {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
  void operator()(rd_kafka_topic_partition_list_t* list) const { rd_kafka_topic_partition_list_destroy(list); }
};
using Client = std::unique_ptr<rd_kafka_t, Destroy>;
using Message = std::unique_ptr<rd_kafka_message_t, Destroy>;

Client make_consumer(const std::string& bootstrap, Isolation isolation) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char error[256];
  const std::map<std::string, std::string> settings = {
      {"bootstrap.servers", bootstrap},
      {"group.id", "spillway-topic-reader"},  // demanded by the API; nothing is ever committed
      {"enable.auto.commit", "false"},
      {"enable.partition.eof", "true"},
      {"auto.offset.reset", "earliest"},
      {"check.crcs", "true"},
      {"fetch.wait.max.ms", "20"},
      {"log_level", "0"},
      {"isolation.level", isolation == Isolation::kReadCommitted ? "read_committed" : "read_uncommitted"}};
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), error, sizeof error) != RD_KAFKA_CONF_OK) {
      throw std::runtime_error(error);
    }
  }
  Client client(rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error));
  if (!client) throw std::runtime_error(error);
  rd_kafka_poll_set_consumer(client.get());
  return client;
}

// Asks for all topics: asking for one by name could create it.
int partitions_of(rd_kafka_t* client, const std::string& topic) {
  const rd_kafka_metadata_t* metadata = nullptr;
  const rd_kafka_resp_err_t error = rd_kafka_metadata(client, 1, nullptr, &metadata, kAnswerMs);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(rd_kafka_err2str(error));
  int partitions = 0;
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    if (metadata->topics[i].topic == topic) partitions = metadata->topics[i].partition_cnt;
  }
  rd_kafka_metadata_destroy(metadata);
  return partitions;
}

// The high watermark of every partition that holds anything, and the assignment that reads them from the start.
std::map<std::int32_t, std::int64_t> assign_filled(rd_kafka_t* client, const std::string& topic, int partitions) {
  std::map<std::int32_t, std::int64_t> ends;
  const std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy> list(rd_kafka_topic_partition_list_new(partitions));
  for (std::int32_t partition = 0; partition < partitions; ++partition) {
    std::int64_t low = 0;
    std::int64_t high = 0;
    const auto error = rd_kafka_query_watermark_offsets(client, topic.c_str(), partition, &low, &high, kAnswerMs);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(rd_kafka_err2str(error));
    if (low >= high) continue;
    ends[partition] = high;
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = low;
  }
  if (rd_kafka_assign(client, list.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error("cannot assign");
  return ends;
}

std::optional<std::string> bytes(const void* data, std::size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string(static_cast<const char*>(data), size);
}

TopicRecord to_record(const rd_kafka_message_t& message) {
  TopicRecord record{.partition = message.partition,
                     .offset = message.offset,
                     .key = bytes(message.key, message.key_len),
                     .value = bytes(message.payload, message.len),
                     .headers = {},
                     .timestamp_ms = rd_kafka_message_timestamp(&message, nullptr)};
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return record;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    record.headers.emplace_back(name, bytes(value, size));
  }
  return record;
}

}  // namespace

std::optional<std::string> TopicRecord::header(const std::string& name) const {
  for (const auto& [header_name, header_value] : headers) {
    if (header_name == name) return header_value;
  }
  return std::nullopt;
}

std::vector<TopicRecord> TopicReader::read_all(const std::string& topic) const {
  const Client client = make_consumer(bootstrap_, isolation_);
  auto open_ends = assign_filled(client.get(), topic, partitions_of(client.get(), topic));
  std::vector<TopicRecord> records;
  const auto deadline = std::chrono::steady_clock::now() + kLimit;
  while (!open_ends.empty()) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("topic " + topic + " was not read in 60 s");
    const Message message(rd_kafka_consumer_poll(client.get(), kPollMs));
    if (!message) continue;
    const auto end = open_ends.find(message->partition);
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      if (end != open_ends.end()) open_ends.erase(end);
    } else if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && end != open_ends.end()) {
      if (message->offset < end->second) records.push_back(to_record(*message));
      if (message->offset + 1 >= end->second) open_ends.erase(end);
    }
  }
  return records;
}

}  // namespace spillway::testing
