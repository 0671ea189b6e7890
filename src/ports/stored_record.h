// A record as a consumer reads it back: for the fake sink, the contract suite and other readers of what was sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spillway::ports {

struct StoredRecord {
  std::string topic;
  std::int32_t partition = 0;
  std::optional<std::string> key = {};
  std::optional<std::string> value = {};  // empty optional = tombstone
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::int64_t unix_millis = 0;

  bool operator==(const StoredRecord&) const = default;
};

}  // namespace spillway::ports
