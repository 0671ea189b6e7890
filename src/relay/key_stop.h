// Keys whose later rows stay behind one that is recorded in the ledger: behind a live row that waits for its key's
// backlog, until that is gone; and under `route.on_rejected: stop_key` behind a row that was set aside, until a person
// resolves it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/row.h"
#include "model/settlement.h"
#include "ports/outbox_store.h"
#include "relay/keys.h"

namespace spillway::relay {

class KeyStop {
 public:
  // `stop_key`: also behind rows that were set aside. `waiting`: rows may wait for backlog.
  KeyStop(bool stop_key, bool waiting) : stop_key_(stop_key), enabled_(stop_key || waiting), known_(!enabled_) {}

  ports::Holds holds() const { return stop_key_ ? ports::Holds::kStopKeyToo : ports::Holds::kWaiting; }

  // Whether it is known what the ledger holds; and whether it is time to look again: people resolve rows.
  bool known() const { return known_; }
  bool look_due(base::Instant now) const { return !known_ || (!stopped_.empty() && now >= due_); }
  // It may have changed: nothing is known until the next look.
  void doubt() { known_ = !enabled_; }
  // It has changed, and what is known errs on the side of holding.
  void look_again(base::Instant when) { due_ = when; }

  // What the ledger said when it was asked at `asked_at`: keys it does not name are free. What is not in the ledger yet
  // has to be told again.
  void held(const std::vector<ports::HeldKey>& keys, base::Instant asked_at, base::Instant now) {
    known_ = true;
    // Many that wait are looked through less often: it must not become the ledger's main work.
    due_ = now + std::max(kLookEvery, 20 * base::elapsed(asked_at, now));
    stopped_.clear();
    if (!enabled_) return;
    for (const ports::HeldKey& key : keys) stopped_.emplace(key.key, key);
  }

  // A row is about to be recorded.
  void recording(const model::Settlement& settlement) {
    if (!enabled_ || !settlement.key) return;
    using model::Verdict;
    const bool stops = settlement.verdict == Verdict::kStopped || settlement.verdict == Verdict::kSetAside;
    if (settlement.verdict != Verdict::kWaiting && !(stop_key_ && stops)) return;
    ports::HeldKey& held = stopped_.try_emplace(*settlement.key, ports::HeldKey{{}, settlement.seq}).first->second;
    held.first = std::min(held.first, settlement.seq);
    held.first_open = std::min(held.first_open.value_or(settlement.seq), settlement.seq);
    held.set_aside = held.set_aside || settlement.verdict == model::Verdict::kSetAside;
  }

  // A row of the lane waits behind everything recorded of its key; a released one only behind what is not released.
  bool stops(const model::Row& row, bool released) const {
    if (stopped_.empty() || !row.aggregate_id) return false;
    const auto at = stopped_.find(*row.aggregate_id);
    if (at == stopped_.end()) return false;
    return row.seq > (released ? at->second.first_open.value_or(row.seq) : at->second.first);
  }

  // Keys with nothing in front any more: what stopped behind them has to be released.
  std::vector<std::string> to_release() const {
    std::vector<std::string> keys;
    for (const auto& [key, held] : stopped_) {
      if (held.first_open && !held.set_aside) keys.push_back(key);
    }
    return keys;
  }

  // The verdict of a row that stays behind.
  model::Verdict verdict() const { return stop_key_ ? model::Verdict::kStopped : model::Verdict::kWaiting; }

  bool enabled() const { return enabled_; }

  static constexpr base::Duration kLookEvery = std::chrono::seconds(1);

 private:
  bool stop_key_;
  bool enabled_;
  bool known_;
  base::Instant due_{};
  KeyMap<ports::HeldKey> stopped_;
};

}  // namespace spillway::relay
