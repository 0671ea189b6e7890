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

void Promotion::start_over() {
  more_backlog();
  rows_.clear();
  for (auto& [name, key] : keys_) key = Key();
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

Batch Promotion::take(model::Page page, WentAhead& went_ahead) {
  Batch taken;
  std::vector<model::Row> rows;
  std::string_view last_key;
  for (const model::Row& row : page.rows) {
    last_key = *row.aggregate_id;
    const auto key = keys_.find(last_key);
    if (key == keys_.end()) continue;
    key->second.last = row.seq;
    if (went_ahead.is_finished(row.seq) || !rows_.try_emplace(row.seq, key->first).second) continue;
    ++key->second.open;
    if (!went_ahead.add(row.seq)) continue;
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

void Promotion::finished(std::int64_t seq) {
  const auto row = rows_.extract(seq);
  if (row.empty()) return;
  const auto key = keys_.find(row.mapped());
  if (key == keys_.end()) return;
  --key->second.open;
  check(row.mapped(), key->second);
}

void Promotion::check(const std::string& name, Key& key) {
  if (!key.read_whole || key.open > 0) return;
  completed_.push_back(name);
  complete_.insert(name);
  keys_.erase(name);
}

}  // namespace spillway::relay
