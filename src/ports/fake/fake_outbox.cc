#include "ports/fake/fake_outbox.h"

#include <algorithm>
#include <charconv>

namespace spillway::ports {
namespace {

using model::Settlement;
using model::SettlementState;
using model::Verdict;

constexpr std::int64_t kHourMicros = 3'600'000'000;

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  if (text.empty()) return value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The same for the same seq, so that a run can be repeated.
base::Uuid id_of(std::int64_t seq) {
  base::Uuid id;
  for (int i = 0; i < 8; ++i) id.bytes[15 - i] = static_cast<std::uint8_t>(seq >> (8 * i));
  id.bytes[6] = 0x40;
  return id;
}

bool open(const Settlement& settlement) { return settlement.state == SettlementState::kOpen; }

double seconds_between(std::int64_t from_micros, std::int64_t to_micros) {
  return std::max(0.0, static_cast<double>(to_micros - from_micros) / 1e6);
}

}  // namespace

std::int64_t FakeOutbox::insert(const FakeRow& row, std::int64_t now_micros) {
  const std::int64_t seq = ++last_seq_;
  rows_[seq] = {row, id_of(seq), row.created_at.value_or(model::Timestamp::at(now_micros))};
  return seq;
}

void FakeOutbox::commit(std::int64_t seq) {
  Stored& stored = rows_.at(seq);
  if (stored.commit != 0) return;
  stored.commit = ++last_commit_;
  seq_by_commit_[stored.commit] = seq;
}

void FakeOutbox::roll_back(std::int64_t seq) {
  const auto row = rows_.find(seq);
  if (row != rows_.end() && row->second.commit == 0) rows_.erase(row);
}

void FakeOutbox::erase(std::int64_t seq) {
  const auto row = rows_.find(seq);
  if (row == rows_.end()) return;
  seq_by_commit_.erase(row->second.commit);
  rows_.erase(row);
}

std::optional<FakeOutbox::Rest> FakeOutbox::rest_of(const model::Position& position) const {
  const auto from = number(position.frame.from);
  const auto to = number(position.frame.to);
  if (!from || !to || *from > last_commit_ || *to > last_commit_) return std::nullopt;
  const bool ends_open = position.frame.to.empty();
  return Rest{*from, ends_open ? last_commit_ : *to, position.last_seq.value_or(0), ends_open};
}

// By commit number where the frame is small, by seq where most rows from there on belong to it.
std::vector<std::int64_t> FakeOutbox::members(const Rest& rest, std::size_t limit) const {
  std::vector<std::int64_t> seqs;
  const auto wanted = [&](std::int64_t seq, const Stored& stored) {
    return rest.has(seq, stored) && !settled_.contains(seq);
  };
  if (rest.to - rest.from <= static_cast<std::int64_t>(4 * limit)) {
    for (auto at = seq_by_commit_.upper_bound(rest.from); at != seq_by_commit_.end() && at->first <= rest.to; ++at) {
      if (wanted(at->second, rows_.at(at->second))) seqs.push_back(at->second);
    }
    std::ranges::sort(seqs);
    if (seqs.size() > limit) seqs.resize(limit);
    return seqs;
  }
  for (auto at = rows_.upper_bound(rest.after); at != rows_.end() && seqs.size() < limit; ++at) {
    if (wanted(at->first, at->second)) seqs.push_back(at->first);
  }
  return seqs;
}

void FakeOutbox::append(model::Page& page, std::int64_t seq, const Stored& stored) {
  model::Row row;
  row.seq = seq;
  row.id = stored.id;
  row.aggregate_type = page.arena.copy(stored.row.aggregate_type);
  row.aggregate_id = page.arena.copy(stored.row.aggregate_id);
  row.type = page.arena.copy(stored.row.type);
  if (stored.row.payload) row.payload = page.arena.copy(*stored.row.payload);
  if (stored.row.headers) row.headers = page.arena.copy(*stored.row.headers);
  row.created_at = stored.created_at;
  page.rows.push_back(row);
}

std::optional<model::Page> FakeOutbox::read(const model::Position& from, ReadLimits limits,
                                            std::int64_t now_micros) const {
  const auto rest = rest_of(from);
  if (!rest) return std::nullopt;
  model::Page page;
  page.db_now_micros = now_micros;
  page.frame = {std::to_string(rest->from), std::to_string(rest->to)};
  std::size_t bytes = 0;
  for (std::int64_t seq : members(*rest, limits.rows + 1)) {
    if (!page.rows.empty() && (page.rows.size() >= limits.rows || bytes >= limits.bytes)) {
      page.more = true;
      break;
    }
    append(page, seq, rows_.at(seq));
    bytes += page.rows.back().bytes();
  }
  page.next = page.more ? model::Position{page.frame, page.rows.back().seq}
                        : model::Position{{std::to_string(rest->to), ""}, std::nullopt};
  return page;
}

model::Page FakeOutbox::read_again(std::span<const std::int64_t> seqs, ReadLimits limits,
                                   std::int64_t now_micros) const {
  model::Page page;
  page.db_now_micros = now_micros;
  std::size_t bytes = 0;
  for (std::int64_t seq : seqs) {
    if (!page.rows.empty() && (page.rows.size() >= limits.rows || bytes >= limits.bytes)) {
      page.more = true;
      break;
    }
    const auto row = rows_.find(seq);
    if (row == rows_.end() || row->second.commit == 0) continue;
    append(page, seq, row->second);
    bytes += page.rows.back().bytes();
  }
  return page;
}

std::optional<model::Page> FakeOutbox::read_keys(std::span<const KeyAfter> keys,
                                                 std::span<const model::Position> places, ReadLimits limits,
                                                 std::int64_t now_micros) const {
  std::vector<Rest> rests;
  for (const auto& place : places) {
    const auto rest = rest_of(place);
    if (!rest) return std::nullopt;
    rests.push_back(*rest);
  }
  model::Page page;
  page.db_now_micros = now_micros;
  std::size_t bytes = 0;
  for (const KeyAfter& wanted : keys) {
    for (const auto& [seq, stored] : rows_) {
      if (stored.row.aggregate_id != wanted.key || seq <= wanted.after || settled_.contains(seq)) continue;
      if (std::ranges::none_of(rests, [&](const Rest& rest) { return rest.has(seq, stored); })) continue;
      if (page.rows.size() >= limits.rows || bytes >= limits.bytes) {
        page.more = true;
        return page;
      }
      append(page, seq, stored);
      bytes += page.rows.back().bytes();
    }
  }
  return page;
}

std::optional<std::vector<std::size_t>> FakeOutbox::keys_behind(std::span<const KeyBefore> keys,
                                                                std::span<const model::Position> places) const {
  std::vector<Rest> rests;
  for (const auto& place : places) {
    const auto rest = rest_of(place);
    if (!rest) return std::nullopt;
    rests.push_back(*rest);
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool behind = std::ranges::any_of(rows_, [&](const auto& row) {
      return row.second.row.aggregate_id == keys[i].key && row.first < keys[i].before &&
             !settled_.contains(row.first) &&
             std::ranges::any_of(rests, [&](const Rest& rest) { return rest.has(row.first, row.second); });
    });
    if (behind) found.push_back(i);
  }
  return found;
}

std::vector<FakeOutbox::Rest> FakeOutbox::waiting_in(const Progress& progress) const {
  std::vector<Rest> rests;
  for (const auto& interval : progress.backlog) rests.push_back(rest_of(interval.at).value_or(Rest{}));
  Rest live = rest_of(progress.live).value_or(Rest{});
  rests.push_back(live);
  if (!live.open) rests.push_back({live.to, last_commit_, 0, true});
  return rests;
}

void FakeOutbox::save(const SaveRequest& request, std::int64_t now_micros) {
  progress_ = request.progress;
  published_ += request.published;
  saved_at_ = now_micros;
  if (kept_.empty() || kept_.back().first <= now_micros - kHourMicros) kept_.emplace_back(now_micros, progress_);
}

std::int64_t FakeOutbox::clean_up(std::chrono::seconds keep, std::size_t rows, std::int64_t now_micros) {
  std::optional<Progress> passed;
  if (keep.count() <= 0) {
    passed = progress_;
  } else {
    for (const auto& [at, progress] : kept_) {
      if (at <= now_micros - std::chrono::microseconds(keep).count()) passed = progress;
    }
  }
  if (!passed) return 0;
  const auto rests = waiting_in(*passed);
  std::int64_t removed = 0;
  for (auto at = rows_.begin(); at != rows_.end() && removed < static_cast<std::int64_t>(rows);) {
    const auto& [seq, stored] = *at;
    const auto settlement = settled_.find(seq);
    const bool unsettled = settlement != settled_.end() && settlement->second.state != SettlementState::kDone;
    const bool waits = std::ranges::any_of(rests, [&](const Rest& rest) { return rest.has(seq, stored); });
    if (stored.commit == 0 || unsettled || waits) {
      ++at;
      continue;
    }
    seq_by_commit_.erase(stored.commit);
    at = rows_.erase(at);
    ++removed;
  }
  return removed;
}

void FakeOutbox::record(const Settlement& settlement, std::int64_t now_micros) {
  const auto before = settled_.find(settlement.seq);
  Settlement written = settlement;
  written.since_unix_micros = now_micros;
  if (before != settled_.end()) {
    if (before->second.state == SettlementState::kDone) return;
    const bool same = before->second.verdict == settlement.verdict && before->second.state == settlement.state;
    if (same) written.since_unix_micros = before->second.since_unix_micros;
  }
  if (before == settled_.end() || before->second.verdict != settlement.verdict) {
    discarded_ += settlement.verdict == Verdict::kDiscard;
    reconciled_ += settlement.verdict == Verdict::kReconcile;
  }
  settled_[settlement.seq] = std::move(written);
}

void FakeOutbox::finish(std::int64_t seq) {
  const auto found = settled_.find(seq);
  if (found != settled_.end() && found->second.state == SettlementState::kReleased) {
    const bool reconciled = found->second.verdict == Verdict::kReconcile;
    found->second.state = reconciled ? SettlementState::kOpen : SettlementState::kDone;
  }
}

std::int64_t FakeOutbox::release_keys(std::span<const std::string> keys) {
  std::int64_t changed = 0;
  for (auto& [seq, settlement] : settled_) {
    if (!open(settlement) || !settlement.key || std::ranges::find(keys, *settlement.key) == keys.end()) continue;
    if (settlement.verdict != Verdict::kStopped && settlement.verdict != Verdict::kWaiting) continue;
    settlement.state = SettlementState::kReleased;
    ++changed;
  }
  return changed;
}

std::vector<HeldKey> FakeOutbox::held_keys(Holds holds) const {
  const auto holds_back = [holds](const Settlement& settlement) {
    if (settlement.state == SettlementState::kDone || !settlement.key) return false;
    if (settlement.verdict == Verdict::kWaiting) return true;
    if (holds == Holds::kWaiting || settlement.verdict == Verdict::kReconcile) return false;
    return settlement.state == SettlementState::kReleased || settlement.verdict == Verdict::kStopped ||
           settlement.verdict == Verdict::kSetAside;
  };
  std::map<std::string, HeldKey> keys;
  for (const auto& [seq, settlement] : settled_) {
    if (!holds_back(settlement)) continue;
    HeldKey& held = keys.try_emplace(*settlement.key, HeldKey{*settlement.key, seq}).first->second;
    if (!open(settlement)) continue;
    if (!held.first_open) held.first_open = seq;
    held.set_aside = held.set_aside || settlement.verdict == Verdict::kSetAside;
  }
  std::vector<HeldKey> found;
  for (auto& [key, held] : keys) found.push_back(std::move(held));
  return found;
}

std::vector<Settlement> FakeOutbox::released(std::int64_t after, std::size_t limit) const {
  std::vector<Settlement> found;
  for (auto at = settled_.upper_bound(after); at != settled_.end() && found.size() < limit; ++at) {
    if (at->second.state == SettlementState::kReleased) found.push_back(at->second);
  }
  return found;
}

std::vector<Settlement> FakeOutbox::select(const SettlementFilter& filter) const {
  const auto matches = [&](const Settlement& s) {
    return (filter.ids.empty() || std::ranges::find(filter.ids, s.id) != filter.ids.end()) &&
           (filter.rule.empty() || filter.rule == s.rule) && (filter.type.empty() || filter.type == s.type) &&
           (!filter.before_unix_micros || s.since_unix_micros < *filter.before_unix_micros) &&
           (!filter.up_to_seq || s.seq <= *filter.up_to_seq) &&
           (!filter.open_only || (open(s) && s.verdict != Verdict::kWaiting));
  };
  std::vector<Settlement> found;
  for (const auto& [seq, settlement] : settled_) {
    if (found.size() == filter.limit) break;
    if (matches(settlement)) found.push_back(settlement);
  }
  return found;
}

model::Page FakeOutbox::settled_row(const base::Uuid& id, std::int64_t now_micros) const {
  for (const auto& [seq, settlement] : settled_) {
    if (settlement.id == id) return read_again(std::span(&seq, 1), {}, now_micros);
  }
  return {};
}

std::optional<Whereabouts> FakeOutbox::whereabouts(const base::Uuid& id, std::int64_t now_micros) const {
  const auto row = std::ranges::find_if(rows_, [&](const auto& entry) { return entry.second.id == id; });
  if (row == rows_.end() || row->second.commit == 0) return std::nullopt;
  const auto rests = waiting_in(progress_);
  const bool waits = std::ranges::any_of(rests, [&](const Rest& rest) { return rest.has(row->first, row->second); });
  return Whereabouts{read_again(std::span(&row->first, 1), {}, now_micros), waits};
}

void FakeOutbox::release_stopped(const std::string& key) {
  for (auto& [seq, settlement] : settled_) {
    if (settlement.key != key || !open(settlement)) continue;
    if (settlement.verdict == Verdict::kSetAside) return;
    if (settlement.verdict == Verdict::kStopped) settlement.state = SettlementState::kReleased;
  }
}

std::int64_t FakeOutbox::resolve(const SettlementFilter& filter, Verdict verdict, const std::string& reason,
                                 const std::string& who, std::int64_t now_micros) {
  SettlementFilter open_ones = filter;
  open_ones.open_only = true;
  const auto chosen = select(open_ones);
  for (const auto& settlement : chosen) {
    Settlement& resolved = settled_.at(settlement.seq);
    resolved.verdict = verdict;
    resolved.state = verdict == Verdict::kPublish ? SettlementState::kReleased : SettlementState::kDone;
    resolved.reason = reason;
    resolved.who = who;
    resolved.since_unix_micros = now_micros;
    discarded_ += verdict == Verdict::kDiscard;
  }
  for (const auto& settlement : chosen) {
    if (settlement.key) release_stopped(*settlement.key);
  }
  return static_cast<std::int64_t>(chosen.size());
}

bool FakeOutbox::has_newer(const AskedRow& row) const {
  for (auto at = rows_.upper_bound(row.seq); at != rows_.end(); ++at) {
    const auto& [seq, stored] = *at;
    const bool same = stored.row.aggregate_id == row.aggregate_id && stored.row.type == row.type &&
                      stored.row.aggregate_type == row.aggregate_type;
    if (stored.commit == 0 || !same) continue;
    const auto settlement = settled_.find(seq);
    if (settlement == settled_.end() || settlement->second.verdict == Verdict::kPublish) return true;
  }
  return false;
}

Figures FakeOutbox::figures(std::int64_t now_micros) const {
  Figures figures;
  const auto rests = waiting_in(progress_);
  for (const auto& [seq, stored] : rows_) {
    if (settled_.contains(seq)) continue;
    if (std::ranges::none_of(rests, [&](const Rest& rest) { return rest.has(seq, stored); })) continue;
    ++figures.waiting_rows;
    figures.waiting_bytes += static_cast<std::int64_t>(
        stored.row.aggregate_type.size() + stored.row.aggregate_id.size() + stored.row.type.size() +
        (stored.row.payload ? stored.row.payload->size() : 0) + (stored.row.headers ? stored.row.headers->size() : 0));
    if (figures.oldest_age_s) continue;
    const bool dated = stored.created_at.kind == model::Timestamp::Kind::kFinite;
    figures.oldest_age_s = dated ? seconds_between(stored.created_at.unix_micros, now_micros) : 0;
  }
  for (const auto& [seq, settlement] : settled_) {
    const bool done = settlement.state == model::SettlementState::kDone;
    figures.behind_their_key += settlement.verdict == Verdict::kWaiting && !done;
    if (!open(settlement) || settlement.verdict == Verdict::kWaiting) continue;
    ++figures.open_settlements;
    const double age = seconds_between(settlement.since_unix_micros, now_micros);
    figures.oldest_open_age_s = std::max(age, figures.oldest_open_age_s.value_or(0));
  }
  if (saved_at_) figures.progress_age_s = seconds_between(*saved_at_, now_micros);
  figures.published = published_;
  figures.discarded = discarded_;
  figures.reconciled = reconciled_;
  figures.seq_headroom = 1;
  return figures;
}

}  // namespace spillway::ports
