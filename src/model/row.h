// One outbox row, and a page of them as a store hands them over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"
#include "model/position.h"
#include "model/timestamp.h"

namespace spillway::model {

// Views point into the arena of the page that the row belongs to.
struct Row {
  std::int64_t seq = 0;  // order within a key
  base::Uuid id;
  std::string_view aggregate_type;
  std::optional<std::string_view> aggregate_id;  // NULL only in adopted tables
  std::string_view type;
  std::optional<std::string_view> payload;  // NULL = tombstone; present and empty = zero bytes
  std::optional<std::string_view> headers;  // text of a JSON object
  Timestamp created_at;

  std::size_t bytes() const {
    return aggregate_type.size() + (aggregate_id ? aggregate_id->size() : 0) + type.size() +
           (payload ? payload->size() : 0) + (headers ? headers->size() : 0);
  }
};

// Memory that rows point into: grows by blocks that never move.
class Arena {
 public:
  // Room for `size` bytes, valid for the arena's lifetime.
  char* allocate(std::size_t size) {
    if (size > left_) {
      const std::size_t block = size > kBlock ? size : kBlock;
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(block));
      next_ = blocks_.back().get();
      left_ = block;
      reserved_ += block;
    }
    char* at = next_;
    next_ += size;
    left_ -= size;
    return at;
  }

  std::string_view copy(std::string_view bytes) {
    char* at = allocate(bytes.size());
    bytes.copy(at, bytes.size());
    return {at, bytes.size()};
  }

  std::size_t reserved() const { return reserved_; }

 private:
  static constexpr std::size_t kBlock = 256 * 1024;

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t reserved_ = 0;
};

// Rows in order of `seq`, all from one frame.
struct Page {
  Arena arena;
  std::vector<Row> rows;
  Frame frame;        // that the rows belong to; with the row's seq it is the position after that row
  Position next;      // where reading goes on once these rows are taken
  bool more = false;  // rows are known to follow at `next` already
  std::int64_t db_now_micros = 0;
};

}  // namespace spillway::model
