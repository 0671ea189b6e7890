// The two things a relay cannot be faster than: reading the rows, and producing the records.
#pragma once

#include <cstdint>
#include <string>

struct rd_kafka_s;

namespace spillway::bench {

// Records of `bytes` with key and two headers, as the relay makes them: acks=all, idempotent. Records a second.
double bare_producer(const std::string& bootstrap, const std::string& topic, std::int64_t records, std::size_t bytes);

// COPY of the outbox's columns in binary, every byte read and dropped. Rows a second.
double bare_copy(const std::string& uri);

// Records on the topic by its high watermarks. Keeps its connection.
class TopicSize {
 public:
  TopicSize(const std::string& bootstrap, std::string topic, int partitions);
  ~TopicSize();
  std::int64_t records() const;

 private:
  rd_kafka_s* client_;
  std::string topic_;
  int partitions_;
};

}  // namespace spillway::bench
