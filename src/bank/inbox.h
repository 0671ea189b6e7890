// What was delivered: each event once, in order, and which are missing. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace spillway::bank {

class Inbox {
 public:
  // `number` grows with every event of `key`. False where the event was delivered before.
  bool deliver(std::string_view id, std::string_view key, std::int64_t number);

  bool knows(const std::string& id) const { return seen_.contains(id); }
  std::int64_t unique() const { return static_cast<std::int64_t>(seen_.size()); }
  std::int64_t duplicates() const { return duplicates_; }
  // First deliveries that came after a later one of their key.
  std::int64_t inversions() const { return inversions_; }
  // How many of these were never delivered.
  std::int64_t missing(std::span<const std::string> ids) const;

 private:
  std::unordered_set<std::string> seen_;
  std::unordered_map<std::string, std::int64_t> last_;
  std::int64_t duplicates_ = 0;
  std::int64_t inversions_ = 0;
};

}  // namespace spillway::bank
