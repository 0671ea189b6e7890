// Keeps a message that repeats from filling the log: the first few in each interval pass, the rest are counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/time.h"

namespace spillway::telemetry {

class RepeatLimit {
 public:
  RepeatLimit(std::uint32_t passes, base::Duration interval) : passes_(passes), interval_(interval) {}

  struct Verdict {
    bool pass = true;
    std::uint64_t suppressed = 0;  // since the last one that passed
  };

  Verdict ask(std::string_view message, base::Instant now) {
    if (known_.size() >= kMessages && !known_.contains(std::string(message))) forget_old(now);
    Entry& entry = known_[std::string(message)];
    if (entry.passed == 0 || base::elapsed(entry.began, now) >= interval_) {
      entry.began = now;
      entry.passed = 0;
    }
    if (entry.passed >= passes_) {
      ++entry.suppressed;
      return {.pass = false};
    }
    ++entry.passed;
    return {.pass = true, .suppressed = std::exchange(entry.suppressed, 0)};
  }

 private:
  static constexpr std::size_t kMessages = 256;

  struct Entry {
    base::Instant began{};
    std::uint32_t passed = 0;
    std::uint64_t suppressed = 0;
  };

  void forget_old(base::Instant now) {
    std::erase_if(known_, [&](const auto& item) { return base::elapsed(item.second.began, now) >= interval_; });
    if (known_.size() >= kMessages) known_.clear();
  }

  std::uint32_t passes_;
  base::Duration interval_;
  std::unordered_map<std::string, Entry> known_;
};

}  // namespace spillway::telemetry
