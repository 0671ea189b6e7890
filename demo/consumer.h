// What stands on the other side of the topic: it does its work once for each event, whatever is delivered twice.
#pragma once

#include <cstdint>
#include <map>
#include <string>

struct rd_kafka_s;
struct sqlite3;

namespace spillway::demo {

class Consumer {
 public:
  // `inbox` is a database of its own, where `spillway init` has made the inbox table.
  Consumer(const std::string& bootstrap, const std::string& topic, int partitions, const std::string& inbox);
  ~Consumer();
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // Takes what has arrived, for at most 100 ms.
  void poll();

  std::int64_t delivered() const { return delivered_; }
  std::int64_t done() const { return done_; }
  std::int64_t duplicates() const { return delivered_ - done_; }
  std::int64_t out_of_order() const { return out_of_order_; }

 private:
  // In one transaction with the work: false where this event was done before.
  bool claim(const std::string& event_id);
  void work(const std::string& key, const std::string& payload);

  rd_kafka_s* kafka_ = nullptr;
  sqlite3* inbox_ = nullptr;
  std::map<std::string, std::int64_t> versions_;
  std::int64_t delivered_ = 0;
  std::int64_t done_ = 0;
  std::int64_t out_of_order_ = 0;
};

}  // namespace spillway::demo
