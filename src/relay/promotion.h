// Keys whose backlog goes first, because a live event waits behind it: `lanes.key_with_backlog: promote`.
//
// The rows are found by key and sent ahead of the rest of the backlog.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/row.h"
#include "ports/outbox_store.h"
#include "relay/batch.h"
#include "relay/keys.h"
#include "relay/went_ahead.h"
#include "relay/window.h"

namespace spillway::relay {

class Promotion {
 public:
  static bool is(Ordinal ordinal) { return ordinal >= kPromotedBegin && ordinal < 2 * kPromotedBegin; }

  // Does nothing where it is under way already, or where too many are.
  void want(const std::string& key);

  // What to read: of each key the rows beyond the last one that was taken.
  std::vector<ports::KeyAfter> to_read(std::size_t keys);
  bool has_to_read() const { return !reading_.empty(); }

  // The rows of the last `to_read`, in that order. Returns those to be sent; the others are on their way.
  Batch take(model::Page page, WentAhead& went_ahead);

  // A row that went ahead was acknowledged, or is on record.
  void finished(std::int64_t seq);

  // All backlog of the key is finished, as far as it was backlog when it was promoted.
  bool complete(const std::string& key) const { return complete_.contains(key); }
  // Since the last call.
  std::vector<std::string> take_completed() { return std::exchange(completed_, {}); }

  // More became backlog: what was complete, or read whole, need not be any more.
  void more_backlog();
  // So did rows that had been read and were not sent: all are read again.
  void start_over();

 private:
  static constexpr Ordinal kSeqZero = kPromotedBegin + (kPromotedBegin >> 1);  // seq lies within +-2^61
  static constexpr std::size_t kKeysMost = 10'000;  // at once; the others wait for the backlog to come to them

  struct Key {
    std::int64_t last = std::numeric_limits<std::int64_t>::min() + 1;  // seq taken
    std::size_t open = 0;                                              // on their way and not finished
    bool read_whole = false;
  };
  void came_whole(std::optional<std::string_view> cut);
  void check(const std::string& name, Key& key);

  std::uint32_t backlogs_ = 0;        // times that more became backlog
  std::uint32_t backlogs_asked_ = 0;  // at the last to_read
  std::vector<ports::KeyAfter> asked_;
  KeyMap<Key> keys_;
  std::deque<std::string> reading_;                     // keys that are not read whole, in the order of their wish
  std::unordered_map<std::int64_t, std::string> rows_;  // that are open, with their keys
  KeySet complete_;
  std::vector<std::string> completed_;
};

}  // namespace spillway::relay
