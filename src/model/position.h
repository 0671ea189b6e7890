// A place in an outbox. Only the store that made it understands what is inside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace spillway::model {

// The rows visible to `to` and not to `from`, each in the store's own notation (pg_snapshot text in PostgreSQL, a seq
// in SQLite). An empty `to` is open: the store fixes it at the next read.
struct Frame {
  std::string from;
  std::string to;

  bool operator==(const Frame&) const = default;
};

// Everything before the frame, and the rows of the frame up to and including `last_seq`, is finished.
struct Position {
  Frame frame;
  std::optional<std::int64_t> last_seq;

  bool operator==(const Position&) const = default;
};

}  // namespace spillway::model
