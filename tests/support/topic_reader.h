#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spillway::testing {

struct TopicRecord {
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::optional<std::string> key;    // nothing: null, which is not the same as empty
  std::optional<std::string> value;  // nothing: a tombstone
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;  // in their order on the wire
  std::int64_t timestamp_ms = -1;

  // The value of the first header of that name; nothing where there is none or where it is null.
  std::optional<std::string> header(const std::string& name) const;
};

enum class Isolation { kReadCommitted, kReadUncommitted };

// Reads whole topics, with no consumer group and nothing kept between calls.
class TopicReader {
 public:
  explicit TopicReader(std::string bootstrap, Isolation isolation = Isolation::kReadCommitted)
      : bootstrap_(std::move(bootstrap)), isolation_(isolation) {}

  // Every record from the oldest one up to the high watermarks found at the call (under read_committed: up to the first
  // open transaction). Ordered by offset within a partition. A topic that does not exist reads as empty. Throws
  // std::runtime_error when the broker does not deliver within a minute.
  std::vector<TopicRecord> read_all(const std::string& topic) const;

 private:
  std::string bootstrap_;
  Isolation isolation_;
};

}  // namespace spillway::testing
