// Records of a topic, and of the retry topic beside it, through a consumer group. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace spillway::bank {

struct Record {
  std::string id;  // the header of that name
  std::string key;
  std::string value;
  std::int64_t number = 0;        // at the end of the value, after a space; 0 where there is none
  std::int64_t timestamp_ms = 0;  // as the topic says: of creation, or of the append
  bool retried = false;           // from the retry topic
};

struct FeedOptions {
  std::string bootstrap;
  std::string group = "bank";
  std::string topic;
  std::string retry_topic{};  // empty: none
};

class RecordFeed {
 public:
  // Throws std::runtime_error where librdkafka does not take the options. The topics exist already; those that do not
  // are looked for again after five minutes.
  explicit RecordFeed(const FeedOptions& options);
  // Leaves the group; what is still to be written to the retry topic gets a few seconds.
  ~RecordFeed();
  RecordFeed(const RecordFeed&) = delete;
  RecordFeed& operator=(const RecordFeed&) = delete;

  // The next record in the order of its partition; nothing where none comes within `wait`. Brokers that are away are
  // waited for. What was returned counts as consumed, and is committed within a quarter of a second.
  std::optional<Record> next(std::chrono::milliseconds wait);

  // Partitions whose records come here; 0 until the group has let it in.
  int partitions() const;

  void send_to_retry_topic(const Record& record);

 private:
  struct Clients;
  std::unique_ptr<Clients> clients_;
};

}  // namespace spillway::bank
