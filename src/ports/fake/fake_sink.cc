#include "ports/fake/fake_sink.h"

#include <algorithm>

namespace spillway::ports {
namespace {

// Murmur2 as org.apache.kafka.common.utils.Utils computes it.
std::uint32_t murmur2(std::string_view key) {
  constexpr std::uint32_t kMultiplier = 0x5bd1e995;
  std::uint32_t hash = 0x9747b28cU ^ static_cast<std::uint32_t>(key.size());
  std::size_t at = 0;
  for (; at + 4 <= key.size(); at += 4) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      word |= static_cast<std::uint32_t>(static_cast<unsigned char>(key[at + i])) << (8 * i);
    }
    word *= kMultiplier;
    word ^= word >> 24;
    word *= kMultiplier;
    hash = hash * kMultiplier ^ word;
  }
  if (at < key.size()) {
    for (std::size_t i = key.size() - at; i-- > 0;) {
      hash ^= static_cast<std::uint32_t>(static_cast<unsigned char>(key[at + i])) << (8 * i);
    }
    hash *= kMultiplier;
  }
  hash ^= hash >> 13;
  hash *= kMultiplier;
  return hash ^ hash >> 15;
}

StoredRecord copy(const Record& record, const std::string& topic) {
  StoredRecord stored{.topic = topic, .partition = record.partition, .unix_millis = record.unix_millis};
  if (record.key) stored.key.emplace(*record.key);
  if (record.value) stored.value.emplace(*record.value);
  for (const Header& header : record.headers) stored.headers.emplace_back(header.name, header.value);
  return stored;
}

}  // namespace

TopicId FakeSink::topic_id(std::string_view name) {
  if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
  const auto id = static_cast<TopicId>(topics_.size());
  topics_.push_back({std::string(name), {}});
  ids_.emplace(name, id);
  return id;
}

std::int32_t FakeSink::partition_for(TopicId id, std::optional<std::string_view> key) {
  const auto partitions = static_cast<std::uint32_t>(topics_.at(id).topic.partitions);
  const std::uint32_t hash = key ? murmur2(*key) & 0x7fffffffU : static_cast<std::uint32_t>(keyless_++ * 2654435761U);
  return static_cast<std::int32_t>(hash % partitions);
}

SendOutcome FakeSink::send(const Record& record, std::uint64_t token) {
  const Entry& entry = topics_.at(record.topic);
  if (entry.topic.state != TopicState::kReady || record.partition < 0 || record.partition >= entry.topic.partitions) {
    return SendOutcome::kNotReady;
  }
  const std::size_t bytes = (record.key ? record.key->size() : 0) + (record.value ? record.value->size() : 0);
  if (bytes > limits_.record_bytes) {
    last_reason_ = "the record for topic " + entry.name + " has " + std::to_string(bytes) + " bytes, the limit is " +
                   std::to_string(limits_.record_bytes);
    return SendOutcome::kRejected;
  }
  if (broken_ || pending_.size() >= limits_.records) return SendOutcome::kFull;
  std::size_t& in_partition = per_partition_[{record.topic, record.partition}];
  if (in_partition >= limits_.records_per_partition) return SendOutcome::kPartitionFull;
  ++in_partition;
  pending_.push_back({token, record.topic, false, copy(record, entry.name)});
  return SendOutcome::kQueued;
}

void FakeSink::drain(SinkEvents& events) {
  if (broken_) fail_all(events);
  if (!reachable_) return;
  std::deque<Pending> kept;
  for (Pending& pending : pending_) {
    const bool held = held_.contains({pending.record.topic, pending.record.partition});
    if ((held || allowance_ == 0) && !pending.dropped) {
      kept.push_back(std::move(pending));
      continue;
    }
    if (allowance_ != kNoLimit && !pending.dropped) --allowance_;
    --per_partition_[{pending.topic, pending.record.partition}];
    events.deliveries.push_back(settle(pending));
  }
  pending_ = std::move(kept);
  resolve_topics(events);
}

Delivery FakeSink::settle(Pending& pending) {
  if (pending.dropped) {
    return {pending.token, DeliveryOutcome::kTopicMissing, "topic " + pending.record.topic + " is gone"};
  }
  if (losing_ > 0) {
    --losing_;
    if (lost_arrive_) store(pending.record);
    return {pending.token, DeliveryOutcome::kUnknown, "no answer"};
  }
  if (judge_) {
    if (std::optional<std::string> reason = judge_(pending.record)) {
      return {pending.token, DeliveryOutcome::kRejected, std::move(*reason)};
    }
  }
  store(pending.record);
  return {pending.token, DeliveryOutcome::kAcknowledged, {}};
}

void FakeSink::fail_all(SinkEvents& events) {
  for (Pending& pending : pending_) {
    if (arrived_when_broken_ > 0 && !pending.dropped) {
      --arrived_when_broken_;
      store(pending.record);
    }
    events.deliveries.push_back({pending.token, DeliveryOutcome::kUnknown, *broken_});
  }
  pending_.clear();
  per_partition_.clear();
  events.rebuilt = true;
  events.rebuilt_reason = std::move(*broken_);
  broken_.reset();
}

void FakeSink::store(StoredRecord& record) {
  if (observer_) {
    observer_(record);
  } else {
    stored_.push_back(std::move(record));
  }
}

Topic FakeSink::as_broker_sees(const std::string& name) const {
  const auto found = broker_.find(name);
  if (found == broker_.end()) return {TopicState::kMissing, 0, "topic " + name + " does not exist"};
  if (!found->second.refused.empty()) return {TopicState::kRefused, 0, found->second.refused};
  return {TopicState::kReady, found->second.partitions, {}};
}

void FakeSink::resolve_topics(SinkEvents& events) {
  for (std::size_t id = 0; id < topics_.size(); ++id) {
    Entry& entry = topics_[id];
    Topic seen = as_broker_sees(entry.name);
    if (seen.state == entry.topic.state && seen.partitions == entry.topic.partitions) continue;
    entry.topic = std::move(seen);
    events.topics.push_back(static_cast<TopicId>(id));
  }
}

void FakeSink::create_topic(const std::string& name, std::int32_t partitions) { broker_[name] = {partitions, {}}; }

void FakeSink::refuse_topic(const std::string& name, std::string reason) { broker_[name] = {0, std::move(reason)}; }

void FakeSink::drop_topic(const std::string& name) {
  broker_.erase(name);
  for (Pending& pending : pending_) {
    if (pending.record.topic == name) pending.dropped = true;
  }
}

void FakeSink::hold(const std::string& topic, std::int32_t partition) { held_.insert({topic, partition}); }

void FakeSink::let_go(const std::string& topic, std::int32_t partition) { held_.erase({topic, partition}); }

void FakeSink::lose(std::size_t records, bool arrived) {
  losing_ = records;
  lost_arrive_ = arrived;
}

void FakeSink::break_producer(std::string reason, std::size_t arrived) {
  broken_ = std::move(reason);
  arrived_when_broken_ = arrived;
}

std::vector<StoredRecord> FakeSink::stored(const std::string& topic, std::int32_t partition) const {
  std::vector<StoredRecord> found;
  std::ranges::copy_if(stored_, std::back_inserter(found), [&](const StoredRecord& record) {
    return record.topic == topic && record.partition == partition;
  });
  return found;
}

}  // namespace spillway::ports
