// Keys in front of whose recorded rows nothing recorded is left. What stopped behind them is released once none of
// their backlog is unfinished.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace spillway::relay {

class FreeKeys {
 public:
  // These may have unfinished backlog. What was found earlier and not asked for yet is among them.
  void found(std::vector<std::string> keys) { unsure_ = std::move(keys); }
  bool has_unsure() const { return !unsure_.empty(); }
  // One of them; whoever takes it finds out about its backlog.
  std::string take_unsure() {
    std::string key = std::move(unsure_.back());
    unsure_.pop_back();
    return key;
  }

  // Nothing of its backlog is unfinished.
  void free(std::string key) { free_.push_back(std::move(key)); }
  // There is no backlog.
  void all_free() { std::ranges::move(std::exchange(unsure_, {}), std::back_inserter(free_)); }
  // Those to be released. They are found again where that fails.
  std::vector<std::string> take_free() { return std::exchange(free_, {}); }

 private:
  std::vector<std::string> unsure_;
  std::vector<std::string> free_;
};

}  // namespace spillway::relay
