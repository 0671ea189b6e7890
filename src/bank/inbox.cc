#include "bank/inbox.h"

#include <algorithm>
#include <limits>

namespace spillway::bank {

bool Inbox::deliver(std::string_view id, std::string_view key, std::int64_t number) {
  if (!seen_.emplace(id).second) {
    ++duplicates_;
    return false;
  }
  std::int64_t& last = last_.try_emplace(std::string(key), std::numeric_limits<std::int64_t>::min()).first->second;
  if (number <= last) ++inversions_;
  last = std::max(last, number);
  return true;
}

std::int64_t Inbox::missing(std::span<const std::string> ids) const {
  return std::ranges::count_if(ids, [&](const std::string& id) { return !knows(id); });
}

}  // namespace spillway::bank
