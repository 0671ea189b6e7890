#include "bank/record_feed.h"

#include <librdkafka/rdkafka.h>

#include <array>
#include <charconv>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace spillway::bank {
namespace {

constexpr int kFlushMs = 3'000;

struct Destroy {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
  void operator()(rd_kafka_topic_partition_list_t* list) const { rd_kafka_topic_partition_list_destroy(list); }
};
using Client = std::unique_ptr<rd_kafka_t, Destroy>;

Client make_client(rd_kafka_type_t type, std::initializer_list<std::pair<const char*, std::string>> properties) {
  char why[256];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  for (const auto& [name, value] : properties) {
    if (rd_kafka_conf_set(conf, name, value.c_str(), why, sizeof why) == RD_KAFKA_CONF_OK) continue;
    rd_kafka_conf_destroy(conf);
    throw std::runtime_error(why);
  }
  Client client(rd_kafka_new(type, conf, why, sizeof why));
  if (!client) {
    rd_kafka_conf_destroy(conf);
    throw std::runtime_error(why);
  }
  return client;
}

// The refresh of metadata keeps librdkafka's five minutes: one that comes in while a leader waits for the metadata of
// its own makes the client join again, which takes seconds each time and can go on for a minute.
Client make_consumer(const FeedOptions& options) {
  return make_client(RD_KAFKA_CONSUMER, {{"bootstrap.servers", options.bootstrap},
                                         {"group.id", options.group},
                                         {"auto.offset.reset", "earliest"},
                                         {"session.timeout.ms", "6000"},
                                         {"heartbeat.interval.ms", "500"},
                                         {"auto.commit.interval.ms", "250"},
                                         {"fetch.wait.max.ms", "20"},
                                         {"reconnect.backoff.max.ms", "500"},
                                         {"log_level", "0"}});
}

Client make_producer(const FeedOptions& options) {
  return make_client(RD_KAFKA_PRODUCER, {{"bootstrap.servers", options.bootstrap},
                                         {"enable.idempotence", "true"},
                                         {"linger.ms", "5"},
                                         {"reconnect.backoff.max.ms", "500"},
                                         {"log_level", "0"}});
}

std::string text(const void* data, std::size_t size) {
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

std::string id_of(const rd_kafka_message_t* message) {
  rd_kafka_headers_t* headers = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_header_get_last(headers, "id", &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return {};
  }
  return text(value, size);
}

std::int64_t number_at_the_end(const std::string& value) {
  std::int64_t number = 0;
  std::from_chars(value.data() + value.rfind(' ') + 1, value.data() + value.size(), number);
  return number;
}

}  // namespace

struct RecordFeed::Clients {
  std::string retry_topic;
  Client consumer;
  Client producer;
};

RecordFeed::RecordFeed(const FeedOptions& options)
    : clients_(std::make_unique<Clients>(Clients{options.retry_topic, make_consumer(options), nullptr})) {
  rd_kafka_poll_set_consumer(clients_->consumer.get());
  const std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy> topics(rd_kafka_topic_partition_list_new(2));
  rd_kafka_topic_partition_list_add(topics.get(), options.topic.c_str(), RD_KAFKA_PARTITION_UA);
  if (!options.retry_topic.empty()) {
    rd_kafka_topic_partition_list_add(topics.get(), options.retry_topic.c_str(), RD_KAFKA_PARTITION_UA);
    clients_->producer = make_producer(options);
  }
  const auto error = rd_kafka_subscribe(clients_->consumer.get(), topics.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error(rd_kafka_err2str(error));
}

RecordFeed::~RecordFeed() {
  rd_kafka_consumer_close(clients_->consumer.get());
  if (clients_->producer) rd_kafka_flush(clients_->producer.get(), kFlushMs);
}

std::optional<Record> RecordFeed::next(std::chrono::milliseconds wait) {
  if (clients_->producer) rd_kafka_poll(clients_->producer.get(), 0);
  const std::unique_ptr<rd_kafka_message_t, Destroy> message(
      rd_kafka_consumer_poll(clients_->consumer.get(), static_cast<int>(wait.count())));
  if (!message || message->err != RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
  Record record{.id = id_of(message.get()),
                .key = text(message->key, message->key_len),
                .value = text(message->payload, message->len),
                .number = 0,
                .timestamp_ms = rd_kafka_message_timestamp(message.get(), nullptr),
                .retried = clients_->retry_topic == rd_kafka_topic_name(message->rkt)};
  record.number = number_at_the_end(record.value);
  return record;
}

int RecordFeed::partitions() const {
  rd_kafka_topic_partition_list_t* list = nullptr;
  if (rd_kafka_assignment(clients_->consumer.get(), &list) != RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
  const std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy> assigned(list);
  return assigned->cnt;
}

// By the call that takes an array: the macros of the variadic one are not standard C++.
void RecordFeed::send_to_retry_topic(const Record& record) {
  std::array<rd_kafka_vu_t, 5> fields{};
  fields[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  fields[0].u.cstr = clients_->retry_topic.c_str();
  fields[1].vtype = RD_KAFKA_VTYPE_KEY;
  fields[1].u.mem = {const_cast<char*>(record.key.data()), record.key.size()};
  fields[2].vtype = RD_KAFKA_VTYPE_VALUE;
  fields[2].u.mem = {const_cast<char*>(record.value.data()), record.value.size()};
  fields[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  fields[3].u.i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK;
  fields[4].vtype = RD_KAFKA_VTYPE_HEADER;
  fields[4].u.header = {"id", record.id.data(), static_cast<ssize_t>(record.id.size())};
  rd_kafka_error_t* error = rd_kafka_produceva(clients_->producer.get(), fields.data(), fields.size());
  if (error == nullptr) return;
  const std::string why = rd_kafka_error_string(error);
  rd_kafka_error_destroy(error);
  throw std::runtime_error("the retry topic takes nothing: " + why);
}

}  // namespace spillway::bank
