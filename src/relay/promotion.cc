#include "relay/promotion.h"

#include <algorithm>
#include <utility>

namespace spillway::relay {

void Promotion::want(const std::string& key) {
  if (complete_.contains(key) || keys_.size() >= kKeysMost) return;
  if (keys_.try_emplace(key).second) reading_.push_back(key);
}

void Promotion::more_backlog() {
  ++backlogs_;
  complete_.clear();
  for (auto& [name, key] : keys_) {
    if (std::exchange(key.read_whole, false)) reading_.push_back(name);
  }
}

std::vector<ports::KeyAfter> Promotion::to_read(std::size_t keys) {
  backlogs_asked_ = backlogs_;
  std::vector<ports::KeyAfter> wanted;
  for (std::size_t i = 0; i < std::min(keys, reading_.size()); ++i) {
    wanted.push_back({reading_[i], keys_.at(reading_[i]).last});
  }
  asked_ = wanted;
  return wanted;
}

Batch Promotion::take(model::Page page) {
  Batch taken;
  std::vector<model::Row> rows;
  std::string_view last_key;
  for (const model::Row& row : page.rows) {
    last_key = *row.aggregate_id;
    const auto key = keys_.find(last_key);
    if (key == keys_.end()) continue;
    key->second.last = row.seq;
    if (!rows_.try_emplace(row.seq, Row{key->first, {}}).second) continue;
    ++key->second.open;
    rows.push_back(row);
    taken.ordinals.push_back(kSeqZero + static_cast<Ordinal>(row.seq));
  }
  // Where more became backlog meanwhile each has more by now.
  if (backlogs_asked_ == backlogs_) came_whole(page.more ? std::optional(last_key) : std::nullopt);
  page.rows = std::move(rows);
  taken.page = std::move(page);
  return taken;
}

// All keys that were asked for have come whole, up to the one where the page was cut.
void Promotion::came_whole(std::optional<std::string_view> cut) {
  for (const ports::KeyAfter& wanted : asked_) {
    if (wanted.key == cut) break;
    const auto key = keys_.find(wanted.key);
    if (key == keys_.end() || reading_.empty() || reading_.front() != wanted.key) break;
    reading_.pop_front();
    key->second.read_whole = true;
    check(wanted.key, key->second);
  }
}

Promotion::Meeting Promotion::meet(std::int64_t seq, Ordinal ordinal) {
  const auto row = rows_.find(seq);
  if (row == rows_.end()) return Meeting::kNotPromoted;
  if (row->second.key.empty()) {
    rows_.erase(row);
    return Meeting::kPass;
  }
  row->second.met = ordinal;
  return Meeting::kFinishedLater;
}

std::optional<Ordinal> Promotion::finished(std::int64_t seq) {
  const auto row = rows_.find(seq);
  if (row == rows_.end() || row->second.key.empty()) return std::nullopt;
  const std::string name = std::exchange(row->second.key, {});
  const std::optional<Ordinal> met = row->second.met;
  if (met) rows_.erase(row);
  if (const auto key = keys_.find(name); key != keys_.end()) {
    --key->second.open;
    check(name, key->second);
  }
  return met;
}

void Promotion::check(const std::string& name, Key& key) {
  if (!key.read_whole || key.open > 0) return;
  completed_.push_back(name);
  complete_.insert(name);
  keys_.erase(name);
}

}  // namespace spillway::relay
