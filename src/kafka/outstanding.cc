#include "kafka/outstanding.h"

namespace spillway::kafka {

Outstanding::Slot Outstanding::add(const Entry& entry) {
  Slot slot = free_;
  if (slot == kNone) {
    slot = static_cast<Slot>(nodes_.size());
    nodes_.emplace_back();
  } else {
    free_ = nodes_[slot].next;
  }
  nodes_[slot] = {entry, newest_, kNone};
  (newest_ == kNone ? oldest_ : nodes_[newest_].next) = slot;
  newest_ = slot;
  ++size_;
  bytes_ += entry.bytes;
  return slot;
}

Outstanding::Entry Outstanding::take(Slot slot) {
  Node& node = nodes_[slot];
  (node.previous == kNone ? oldest_ : nodes_[node.previous].next) = node.next;
  (node.next == kNone ? newest_ : nodes_[node.next].previous) = node.previous;
  node.next = free_;
  free_ = slot;
  --size_;
  bytes_ -= node.entry.bytes;
  return node.entry;
}

std::vector<Outstanding::Entry> Outstanding::take_all() {
  std::vector<Entry> entries;
  entries.reserve(size_);
  while (oldest_ != kNone) entries.push_back(take(oldest_));
  return entries;
}

}  // namespace spillway::kafka
