#include "bench/raw_parts.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <librdkafka/rdkafka.h>

#include <memory>
#include <stdexcept>

#include "bench/measure.h"

namespace spillway::bench {

double bare_producer(const std::string& bootstrap, const std::string& topic, std::int64_t records, std::size_t bytes) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  const std::pair<const char*, std::string> settings[] = {{"bootstrap.servers", bootstrap},
                                                          {"enable.idempotence", "true"},
                                                          {"acks", "all"},
                                                          {"partitioner", "murmur2_random"},
                                                          {"queue.buffering.max.messages", "200000"}};
  char why[256];
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(conf, name, value.c_str(), why, sizeof why) != RD_KAFKA_CONF_OK)
      throw std::runtime_error(why);
  }
  rd_kafka_t* producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
  if (producer == nullptr) throw std::runtime_error(why);
  const std::string payload(bytes, 'x');
  const std::string id = "0190f5e2-9c3a-7b01-8000-00000000abcd";
  const Stopwatch watch;
  for (std::int64_t i = 0; i < records;) {
    const std::string key = fmt::format("k{}", i % 10'000);
    rd_kafka_headers_t* headers = rd_kafka_headers_new(2);
    rd_kafka_header_add(headers, "id", 2, id.data(), static_cast<ssize_t>(id.size()));
    rd_kafka_header_add(headers, "type", 4, "made", 4);
    const rd_kafka_resp_err_t error =
        rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_KEY(key.data(), key.size()),
                          RD_KAFKA_V_VALUE(const_cast<char*>(payload.data()), payload.size()),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      ++i;
    } else {
      rd_kafka_headers_destroy(headers);
      rd_kafka_poll(producer, 5);
    }
    if (i % 1'000 == 0) rd_kafka_poll(producer, 0);
  }
  rd_kafka_flush(producer, 60'000);
  const double seconds = watch.seconds();
  rd_kafka_destroy(producer);
  return static_cast<double>(records) / seconds;
}

double bare_copy(const std::string& uri) {
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(uri.c_str()), PQfinish);
  const Stopwatch watch;
  PQclear(PQexec(
      connection.get(),
      "copy (select seq, id, aggregatetype, aggregateid, type, payload, headers, created_at from spillway.outbox "
      "order by seq) to stdout (format binary)"));
  std::int64_t rows = -1;  // the trailer comes as one more
  char* buffer = nullptr;
  while (PQgetCopyData(connection.get(), &buffer, 0) > 0) {
    ++rows;
    PQfreemem(buffer);
  }
  if (rows <= 0) throw std::runtime_error(PQerrorMessage(connection.get()));
  return static_cast<double>(rows) / watch.seconds();
}

TopicSize::TopicSize(const std::string& bootstrap, std::string topic, int partitions)
    : topic_(std::move(topic)), partitions_(partitions) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char why[256];
  rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), why, sizeof why);
  client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
  if (client_ == nullptr) throw std::runtime_error(why);
}

TopicSize::~TopicSize() { rd_kafka_destroy(client_); }

std::int64_t TopicSize::records() const {
  std::int64_t records = 0;
  for (int partition = 0; partition < partitions_; ++partition) {
    std::int64_t low = 0;
    std::int64_t high = 0;
    if (rd_kafka_query_watermark_offsets(client_, topic_.c_str(), partition, &low, &high, 5'000) ==
        RD_KAFKA_RESP_ERR_NO_ERROR) {
      records += high - low;
    }
  }
  return records;
}

}  // namespace spillway::bench
