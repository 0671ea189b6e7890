#include "demo/consumer.h"

#include <librdkafka/rdkafka.h>
#include <sqlite3.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace spillway::demo {
namespace {

void set(rd_kafka_conf_t* conf, const char* name, const std::string& value) {
  char why[256];
  if (rd_kafka_conf_set(conf, name, value.c_str(), why, sizeof why) != RD_KAFKA_CONF_OK) throw std::runtime_error(why);
}

std::string header(const rd_kafka_message_t* message, const char* name) {
  rd_kafka_headers_t* headers = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_header_get_last(headers, name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return {};
  }
  return {static_cast<const char*>(value), size};
}

}  // namespace

Consumer::Consumer(const std::string& bootstrap, const std::string& topic, int partitions, const std::string& inbox) {
  if (sqlite3_open(inbox.c_str(), &inbox_) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(inbox_));
  sqlite3_exec(inbox_, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr);
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", bootstrap);
  set(conf, "group.id", "demo");
  set(conf, "enable.auto.commit", "false");
  // The brokers go away on purpose: ask again soon, and say nothing.
  set(conf, "socket.timeout.ms", "1000");
  set(conf, "log_level", "0");
  char why[256];
  kafka_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
  if (kafka_ == nullptr) throw std::runtime_error(why);
  rd_kafka_poll_set_consumer(kafka_);
  rd_kafka_topic_partition_list_t* topics = rd_kafka_topic_partition_list_new(partitions);
  for (int i = 0; i < partitions; ++i) {
    rd_kafka_topic_partition_list_add(topics, topic.c_str(), i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  }
  rd_kafka_assign(kafka_, topics);
  rd_kafka_topic_partition_list_destroy(topics);
}

Consumer::~Consumer() {
  rd_kafka_consumer_close(kafka_);
  rd_kafka_destroy(kafka_);
  sqlite3_close(inbox_);
}

void Consumer::poll() {
  sqlite3_exec(inbox_, "BEGIN", nullptr, nullptr, nullptr);
  for (int waited = 100; rd_kafka_message_t* message = rd_kafka_consumer_poll(kafka_, waited); waited = 0) {
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++delivered_;
      if (claim(header(message, "id"))) {
        work({static_cast<const char*>(message->key), message->key_len},
             {static_cast<const char*>(message->payload), message->len});
      }
    }
    rd_kafka_message_destroy(message);
  }
  sqlite3_exec(inbox_, "COMMIT", nullptr, nullptr, nullptr);
}

bool Consumer::claim(const std::string& event_id) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(
      inbox_, "INSERT INTO spillway_inbox (consumer, event_id) VALUES ('demo', ?) ON CONFLICT DO NOTHING RETURNING 1",
      -1, &statement, nullptr);
  sqlite3_bind_text(statement, 1, event_id.data(), static_cast<int>(event_id.size()), SQLITE_STATIC);
  const bool is_new = sqlite3_step(statement) == SQLITE_ROW;
  sqlite3_finalize(statement);
  return is_new;
}

void Consumer::work(const std::string& key, const std::string& payload) {
  ++done_;
  const std::int64_t version = nlohmann::json::parse(payload).at("version").get<std::int64_t>();
  std::int64_t& last = versions_[key];
  if (version != last + 1) ++out_of_order_;
  last = version;
}

}  // namespace spillway::demo
