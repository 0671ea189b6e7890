// `route.on_rejected: stop_key`: once a row of a key was set aside, the later rows of that key stay behind it, recorded
// in the ledger, until a person resolves the first one. Does nothing under `set_aside`.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "model/row.h"
#include "model/settlement.h"

namespace spillway::relay {

class KeyStop {
 public:
  explicit KeyStop(bool enabled) : enabled_(enabled) {}

  // What the ledger says after a start.
  void held(const std::vector<std::string>& keys) {
    stopped_.clear();
    for (const std::string& key : keys) stopped_.emplace(key, Phase::kStopped);
  }

  void set_aside(const model::Settlement& settlement) {
    if (enabled_ && settlement.key && settlement.verdict == model::Verdict::kSetAside) {
      stopped_.insert_or_assign(*settlement.key, Phase::kStopped);
    }
  }

  bool stops(const model::Row& row) const {
    return enabled_ && !stopped_.empty() && row.aggregate_id && stopped_.contains(std::string(*row.aggregate_id));
  }

  // A person resolved what was in front: the rows recorded so far are on their way.
  void released(const std::string& key) {
    if (auto at = stopped_.find(key); at != stopped_.end()) at->second = Phase::kReleasing;
  }

  // A key whose released rows have all gone may hold rows recorded meanwhile: they must be released too.
  std::optional<std::string> to_release() const {
    for (const auto& [key, phase] : stopped_) {
      if (phase == Phase::kReleasing) return key;
    }
    return std::nullopt;
  }
  // Nothing was left behind: rows of the key flow again.
  void free(const std::string& key) { stopped_.erase(key); }

  bool enabled() const { return enabled_; }
  std::size_t size() const { return stopped_.size(); }

 private:
  enum class Phase : unsigned char { kStopped, kReleasing };

  bool enabled_;
  std::unordered_map<std::string, Phase> stopped_;
};

}  // namespace spillway::relay
