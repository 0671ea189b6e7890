// Keys known to have no backlog that is not on its way. Most live rows are of keys that have been looked up already: a
// look costs as long as a read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/row.h"
#include "ports/outbox_store.h"
#include "relay/keys.h"

namespace spillway::relay {

class ClearKeys {
 public:
  // None of the page's rows has to wait for its key, as far as is known.
  bool cover(const model::Page& page) const {
    return !keys_.empty() && std::ranges::all_of(page.rows, [this](const model::Row& row) {
      return !row.aggregate_id || keys_.contains(*row.aggregate_id);
    });
  }
  // The keys of the page that are not known to be clear, each with its last seq there.
  std::vector<ports::KeyBefore> others(const model::Page& page) const {
    std::unordered_map<std::string_view, std::int64_t> last;
    for (const model::Row& row : page.rows) {
      if (row.aggregate_id) last[*row.aggregate_id] = row.seq;
    }
    std::vector<ports::KeyBefore> others;
    for (const auto& [key, seq] : last) {
      if (!keys_.contains(key)) others.push_back({std::string(key), seq});
    }
    return others;
  }

  // So it stays until more becomes backlog.
  void add(const std::string& key) {
    if (keys_.size() < kMost) keys_.insert(key);
  }
  void more_backlog() { keys_.clear(); }

  static constexpr std::size_t kMost = 20'000;

 private:
  KeySet keys_;
};

}  // namespace spillway::relay
