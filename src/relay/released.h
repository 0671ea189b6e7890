// Rows of the ledger that are to be sent after all. Their ordinals lie above all those of the window, in order of seq,
// so that they can wait at gates like any other row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/settlement.h"
#include "relay/gate.h"

namespace spillway::relay {

class Released {
 public:
  static bool is(Ordinal ordinal) { return ordinal >= kWindowEnds; }

  // A row that is known already is left alone: the ledger names it until it is finished there.
  void add(const model::Settlement& settlement) {
    if (!known_.insert(settlement.seq).second) return;
    unread_.emplace(settlement.seq, settlement.key.value_or(""));
    if (settlement.verdict == model::Verdict::kReconcile) reconciled_.emplace(settlement.seq, settlement);
  }
  // What a rule decided about a row that goes to the reconcile topic; null for all others.
  const model::Settlement* reconciled(std::int64_t seq, Ordinal ordinal) const {
    if (!is(ordinal) || reconciled_.empty()) return nullptr;
    const auto found = reconciled_.find(seq);
    return found == reconciled_.end() ? nullptr : &found->second;
  }

  // Those that were never read, by seq; `put_back` where the read brought nothing.
  bool has_unread() const { return !unread_.empty(); }
  std::vector<Waiting> take_unread(std::size_t limit) {
    std::vector<Waiting> taken;
    while (!unread_.empty() && taken.size() < limit) {
      const auto first = unread_.extract(unread_.begin());
      taken.push_back({first.key(), ordinal(first.key())});
    }
    return taken;
  }
  // Those of `seqs` alone.
  std::vector<Waiting> take_unread(const std::vector<std::int64_t>& seqs) {
    std::vector<Waiting> taken;
    for (std::int64_t seq : seqs) {
      if (unread_.erase(seq) > 0) taken.push_back({seq, ordinal(seq)});
    }
    return taken;
  }
  const std::map<std::int64_t, std::string>& unread() const { return unread_; }
  void put_back(std::int64_t seq) { unread_.emplace(seq, ""); }

  std::size_t size() const { return known_.size(); }

  // Acknowledged, or gone from the table: the ledger has to be told.
  void finish(std::int64_t seq) { finished_.push_back(seq); }
  const std::vector<std::int64_t>& finished() const { return finished_; }
  // The ledger has been told about the first `count` of them.
  void told(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) recorded(finished_[i]);
    finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  // Recorded anew, for a person to look at.
  void recorded(std::int64_t seq) {
    known_.erase(seq);
    reconciled_.erase(seq);
  }

  void forget() {
    known_.clear();
    unread_.clear();
    reconciled_.clear();
    finished_.clear();
  }

 private:
  static constexpr Ordinal kWindowEnds = Ordinal{1} << 63;
  static constexpr Ordinal kSeqZero = kWindowEnds + (Ordinal{1} << 62);  // seq lies within +-2^62

  static Ordinal ordinal(std::int64_t seq) { return kSeqZero + static_cast<Ordinal>(seq); }

  std::set<std::int64_t> known_;
  std::map<std::int64_t, std::string> unread_;  // with their keys
  std::map<std::int64_t, model::Settlement> reconciled_;
  std::vector<std::int64_t> finished_;
};

}  // namespace spillway::relay
