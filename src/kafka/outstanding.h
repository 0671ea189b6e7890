// The records that a producer holds, in the order they were sent. A slot number travels through librdkafka in place of
// the token, so that everything can be handed back at once when a producer is given up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ports/sink.h"

namespace spillway::kafka {

class Outstanding {
 public:
  using Slot = std::uint32_t;

  struct Entry {
    std::uint64_t token = 0;
    ports::TopicId topic = 0;
    std::int32_t partition = 0;
    std::uint32_t bytes = 0;  // on the wire, rounded up
  };

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return bytes_; }

  Slot add(const Entry& entry);
  const Entry& at(Slot slot) const { return nodes_[slot].entry; }
  Entry take(Slot slot);

  // Everything, oldest first; afterwards it is empty.
  std::vector<Entry> take_all();

 private:
  static constexpr Slot kNone = 0xffffffff;

  struct Node {
    Entry entry;
    Slot previous = kNone;
    Slot next = kNone;  // the next free node while it is free
  };

  std::vector<Node> nodes_;
  Slot oldest_ = kNone;
  Slot newest_ = kNone;
  Slot free_ = kNone;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace spillway::kafka
