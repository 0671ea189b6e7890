// Rows of the ledger that are to be sent after all. Their ordinals lie above all those of the window, in order of seq,
// so that they can wait at gates like any other row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/settlement.h"
#include "ports/outbox_store.h"
#include "relay/gate.h"

namespace spillway::relay {

class Released {
 public:
  static bool is(Ordinal ordinal) { return ordinal >= kWindowEnds; }

  // What a rule decided about a row that goes to the reconcile topic; null for all others.
  const model::Settlement* reconciled(std::int64_t seq, Ordinal ordinal) const {
    if (!is(ordinal) || reconciled_.empty()) return nullptr;
    const auto found = reconciled_.find(seq);
    return found == reconciled_.end() ? nullptr : &found->second;
  }

  // Those that were never read, by seq; `put_back` where the read brought nothing.
  bool has_unread() const { return !unread_.empty() || has_unread_reconciled(); }
  std::vector<Waiting> take_unread(std::size_t limit) {
    std::vector<Waiting> taken;
    while (!unread_.empty() && taken.size() < limit) {
      const auto first = unread_.extract(unread_.begin());
      taken.push_back({first.key(), ordinal(first.key())});
    }
    return taken.empty() ? take_unread_reconciled(limit) : taken;
  }
  void put_back(std::int64_t seq) {
    reconciled_.contains(seq) ? static_cast<void>(unread_reconciled_.insert(seq)) : add_unread(seq, "");
  }
  // Of these the ones that follow nobody.
  bool has_unread_reconciled() const { return !unread_reconciled_.empty(); }
  std::vector<Waiting> take_unread_reconciled(std::size_t limit) {
    std::vector<Waiting> taken;
    while (has_unread_reconciled() && taken.size() < limit) {
      const std::int64_t seq = unread_reconciled_.extract(unread_reconciled_.begin()).value();
      taken.push_back({seq, ordinal(seq)});
    }
    return taken;
  }

  // While there is backlog: the first `most` whose keys are to be looked up, and those of them that it does not hold
  // up. While it holds up all of them they are not looked up for a while.
  bool look_up_due(base::Instant now) const { return !unread_.empty() && clear_.empty() && now >= look_up_from_; }
  std::vector<ports::KeyBefore> to_look_up(std::size_t most) const {
    std::vector<ports::KeyBefore> keys;
    for (const auto& [seq, key] : unread_) {
      if (keys.size() == most) break;
      keys.push_back({key, seq});
    }
    return keys;
  }
  void looked_up(std::vector<std::int64_t> clear, base::Instant now) {
    clear_ = std::move(clear);
    if (clear_.empty()) look_up_from_ = now + kHeldUpAgain;
  }
  bool has_clear() const { return !clear_.empty(); }
  std::vector<Waiting> take_clear() {
    std::vector<Waiting> taken;
    for (std::int64_t seq : std::exchange(clear_, {})) {
      if (unread_.erase(seq) > 0) taken.push_back({seq, ordinal(seq)});
    }
    return taken;
  }

  // When to ask the ledger whether there are more, and for how many in all.
  bool ask_due(base::Instant now) const { return now >= ask_from_ && known_.size() < kKnownMost; }
  std::size_t ask(base::Instant now) {
    ask_from_ = now + kAskEvery;
    return known_.size() + kMoreAtOnce;
  }
  void ask_again(base::Instant when) { ask_from_ = when; }
  // Where it names as many as it was asked for there are more.
  void answered(const std::vector<model::Settlement>& rows, base::Instant now) {
    const std::size_t known = known_.size();
    for (const model::Settlement& row : rows) add(row);
    if (known_.size() >= known + kMoreAtOnce) ask_from_ = now;
  }

  // Acknowledged, or gone from the table: the ledger has to be told.
  void finish(std::int64_t seq) { finished_.push_back(seq); }
  bool has_to_tell() const { return !finished_.empty(); }
  // All of them, until `told` or asked anew.
  std::vector<std::int64_t> to_tell() {
    telling_ = finished_.size();
    return finished_;
  }
  void told() {
    const auto end = finished_.begin() + static_cast<std::ptrdiff_t>(std::exchange(telling_, 0));
    std::for_each(finished_.begin(), end, [this](std::int64_t seq) { recorded(seq); });
    finished_.erase(finished_.begin(), end);
  }
  // Recorded anew, for a person to look at.
  void recorded(std::int64_t seq) {
    known_.erase(seq);
    reconciled_.erase(seq);
  }

  void forget() {
    known_.clear();
    unread_.clear();
    unread_reconciled_.clear();
    reconciled_.clear();
    clear_.clear();
    finished_.clear();
  }

 private:
  static constexpr Ordinal kWindowEnds = Ordinal{1} << 63;
  static constexpr Ordinal kSeqZero = kWindowEnds + (Ordinal{1} << 62);  // seq lies within +-2^62

  static constexpr std::size_t kKnownMost = 10'000;  // and not finished
  static constexpr std::size_t kMoreAtOnce = 500;
  static constexpr base::Duration kAskEvery = std::chrono::seconds(1);
  static constexpr base::Duration kHeldUpAgain = std::chrono::milliseconds(100);

  // A row that is known already is left alone: the ledger names it until it is finished there.
  void add(const model::Settlement& settlement) {
    if (!known_.insert(settlement.seq).second) return;
    if (settlement.verdict != model::Verdict::kReconcile)
      return add_unread(settlement.seq, settlement.key.value_or(""));
    reconciled_.emplace(settlement.seq, settlement);
    unread_reconciled_.insert(settlement.seq);
  }
  void add_unread(std::int64_t seq, std::string key) { unread_.emplace(seq, std::move(key)); }

  static Ordinal ordinal(std::int64_t seq) { return kSeqZero + static_cast<Ordinal>(seq); }

  std::set<std::int64_t> known_;
  std::map<std::int64_t, std::string> unread_;  // with their keys
  std::set<std::int64_t> unread_reconciled_;
  std::map<std::int64_t, model::Settlement> reconciled_;
  std::vector<std::int64_t> clear_;  // of unread_
  base::Instant look_up_from_{};
  base::Instant ask_from_{};
  std::vector<std::int64_t> finished_;
  std::size_t telling_ = 0;  // of finished_, from the front
};

}  // namespace spillway::relay
