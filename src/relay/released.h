// Rows of the ledger that are to be sent after all. Their ordinals lie above all those of the window, in order of seq,
// so that they can wait at gates like any other row.
//
// Those of a key go by seq. That takes more than sorting those that are known: a person may let an earlier one go any
// time. So the ledger is asked which keys it holds and then for this list, until that brings nothing new: what is held
// back no longer is known then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/row.h"
#include "model/settlement.h"
#include "ports/outbox_store.h"
#include "relay/gate.h"

namespace spillway::relay {

class Released {
 public:
  static bool is(Ordinal ordinal) { return ordinal >= kWindowEnds; }

  // What a rule decided about a row that goes to the reconcile topic; null for all others.
  const model::Settlement* reconciled(std::int64_t seq, Ordinal ordinal) const {
    if (!is(ordinal)) return nullptr;
    const auto found = known_.find(seq);
    return found == known_.end() || !is_reconciled(found->second) ? nullptr : &found->second;
  }

  // Those that were never read, and may be now, by seq; `behind_backlog`: only those that follow none of their key's.
  // One batch at a time: a second one could overtake what waits in the first.
  std::vector<Waiting> take(std::size_t most, bool behind_backlog) {
    std::vector<std::int64_t> taken;
    for (std::int64_t seq : std::exchange(clear_, {})) {
      if (seq <= listed_up_to_ && unread_.erase(seq) > 0) taken.push_back(seq);
    }
    if (taken.empty() && !behind_backlog) taken = take_from(unread_, most, listed_up_to_);
    if (taken.empty()) taken = take_from(unread_reconciled_, most, kAll);
    placing_.insert(taken.begin(), taken.end());
    std::vector<Waiting> rows;
    for (std::int64_t seq : taken) rows.push_back({seq, ordinal(seq)});
    return rows;
  }
  bool has_unread() const { return !unread_.empty() || !unread_reconciled_.empty(); }
  // Until all that was taken is sent, at a gate, put back, or finished.
  bool placing() const { return !placing_.empty(); }
  void placed(std::int64_t seq) { placing_.erase(seq); }
  // The read did not bring it, or it is not its turn: as if never read.
  void put_back(std::int64_t seq) {
    placing_.erase(seq);
    const auto known = known_.find(seq);
    if (known != known_.end()) (is_reconciled(known->second) ? unread_reconciled_ : unread_).insert(seq);
  }
  // Of a row that waited at a gate, while a person may have let earlier ones of its key go: whether it has to wait for
  // them to be listed or placed; and whether it has to be put back, to be read after them.
  bool waits(const model::Row& row) const {
    return row.aggregate_id && (listed_up_to_ == kNone || has_before(placing_, row));
  }
  bool overtakes(const model::Row& row) const {
    return row.aggregate_id && (row.seq > listed_up_to_ || has_before(unread_, row));
  }

  // While there is backlog: the first `most` whose keys are to be looked up, and those of them that it does not hold
  // up. While it holds up all of them they are not looked up for a while.
  bool look_up_due(base::Instant now) const { return !unread_.empty() && clear_.empty() && now >= look_up_from_; }
  std::vector<ports::KeyBefore> to_look_up(std::size_t most) const {
    std::vector<ports::KeyBefore> keys;
    for (std::int64_t seq : unread_) {
      if (keys.size() == most) break;
      keys.push_back({key_of(seq), seq});
    }
    return keys;
  }
  void looked_up(std::vector<std::int64_t> clear, base::Instant now) {
    clear_ = std::move(clear);
    if (clear_.empty()) look_up_from_ = now + kHeldUpAgain;
  }

  // Those that were found clear need not be any more.
  void more_backlog() { clear_.clear(); }

  // The ledger has said anew which keys it holds. The list counts again once it was asked for after that.
  void keys_held(base::Instant now) {
    listed_up_to_ = kNone;
    if (!known_.empty()) ask_from_ = now;
  }
  // When to ask the ledger whether there are more, and for how many in all.
  bool ask_due(base::Instant now) const {
    return now >= ask_from_ && (known_.size() < kKnownMost || listed_up_to_ == kNone);
  }
  std::size_t ask(base::Instant now) {
    ask_from_ = now + kAskEvery;
    asked_for_ = known_.size() + kMoreAtOnce;
    return asked_for_;
  }
  void ask_again(base::Instant when) { ask_from_ = when; }
  // `rows`: by seq. Where it names as many as it was asked for there are more. Whether it names rows that were not
  // known: what stands in front of them may have changed with them.
  bool answered(const std::vector<model::Settlement>& rows, base::Instant now) {
    const std::size_t known = known_.size();
    std::vector<std::int64_t> fresh;
    for (const model::Settlement& row : rows) {
      if (known_.emplace(row.seq, row).second) fresh.push_back(row.seq);
    }
    for (std::int64_t seq : fresh) put_back(seq);
    if (known_.size() >= known + kMoreAtOnce) ask_from_ = now;
    listed_up_to_ = rows.size() < asked_for_ ? kAll : rows.back().seq;
    drop_last();
    return std::ranges::any_of(fresh, [this](std::int64_t seq) { return known_.contains(seq); });
  }

  // Acknowledged, or gone from the table: the ledger has to be told.
  void finish(std::int64_t seq) {
    placing_.erase(seq);
    finished_.push_back(seq);
  }
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
  void recorded(std::int64_t seq) { known_.erase(seq); }

  void forget() { *this = Released(); }

 private:
  static constexpr Ordinal kWindowEnds = Ordinal{1} << 63;
  static constexpr Ordinal kSeqZero = kWindowEnds + (Ordinal{1} << 62);  // seq lies within +-2^62

  static constexpr std::size_t kKnownMost = 10'000;  // and not finished
  static constexpr std::size_t kMoreAtOnce = 500;
  static constexpr base::Duration kAskEvery = std::chrono::seconds(1);
  static constexpr base::Duration kHeldUpAgain = std::chrono::milliseconds(100);
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

  static bool is_reconciled(const model::Settlement& row) { return row.verdict == model::Verdict::kReconcile; }
  static Ordinal ordinal(std::int64_t seq) { return kSeqZero + static_cast<Ordinal>(seq); }

  static std::vector<std::int64_t> take_from(std::set<std::int64_t>& unread, std::size_t most, std::int64_t up_to) {
    std::vector<std::int64_t> taken;
    while (!unread.empty() && *unread.begin() <= up_to && taken.size() < most) {
      taken.push_back(unread.extract(unread.begin()).value());
    }
    return taken;
  }
  bool has_before(const std::set<std::int64_t>& seqs, const model::Row& row) const {
    return std::any_of(seqs.begin(), seqs.lower_bound(row.seq),
                       [&](std::int64_t seq) { return key_of(seq) == *row.aggregate_id; });
  }

  // More than fit are named again later: the last of them, so that what is known is the beginning of the list.
  void drop_last() {
    while (known_.size() > kKnownMost && !unread_.empty()) {
      const std::int64_t last = *unread_.rbegin();
      unread_.erase(last);
      known_.erase(last);
      listed_up_to_ = std::min(listed_up_to_, last - 1);
    }
  }
  // Empty also where it is done with meanwhile.
  const std::string& key_of(std::int64_t seq) const {
    static const std::string kNoKey;
    const auto known = known_.find(seq);
    return known == known_.end() || !known->second.key ? kNoKey : *known->second.key;
  }

  std::map<std::int64_t, model::Settlement> known_;  // the ledger names them until they are finished there
  std::set<std::int64_t> unread_;                    // by any order but that of the reconcile topic
  std::set<std::int64_t> unread_reconciled_;
  std::set<std::int64_t> placing_;
  std::vector<std::int64_t> clear_;  // of unread_
  std::int64_t listed_up_to_ = kNone;
  std::size_t asked_for_ = kMoreAtOnce;
  base::Instant look_up_from_{};
  base::Instant ask_from_{};
  std::vector<std::int64_t> finished_;
  std::size_t telling_ = 0;  // of finished_, from the front
};

}  // namespace spillway::relay
