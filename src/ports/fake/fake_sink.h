// A Sink in memory, with the faults of a broker at hand: for unit tests and for the simulator.
//
// It does nothing by itself. Topics resolve and records are delivered inside `drain`, in the order of sending, unless a
// fault holds them back; the same calls give the same results.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ports/sink.h"
#include "ports/stored_record.h"

namespace spillway::ports {

struct FakeSinkLimits {
  std::size_t records = std::numeric_limits<std::size_t>::max();                // outstanding; beyond: kFull
  std::size_t records_per_partition = std::numeric_limits<std::size_t>::max();  // beyond: kPartitionFull
  std::size_t record_bytes = std::numeric_limits<std::size_t>::max();           // key + value; beyond: kRejected
};

class FakeSink final : public Sink {
 public:
  explicit FakeSink(FakeSinkLimits limits = {}) : limits_(limits) {}

  TopicId topic_id(std::string_view name) override;
  const Topic& topic(TopicId id) const override { return topics_.at(id).topic; }
  const std::string& topic_name(TopicId id) const override { return topics_.at(id).name; }
  std::int32_t partition_for(TopicId id, std::optional<std::string_view> key) override;
  SendOutcome send(const Record& record, std::uint64_t token) override;
  const std::string& last_reason() const override { return last_reason_; }
  std::size_t outstanding() const override { return pending_.size(); }
  void drain(SinkEvents& events) override;

  // The broker. A topic that is neither created nor refused is missing. All take effect with the next drain.
  void create_topic(const std::string& name, std::int32_t partitions = 4);
  void drop_topic(const std::string& name);  // its outstanding records come back as kTopicMissing
  void refuse_topic(const std::string& name, std::string reason);
  void set_reachable(bool reachable) { reachable_ = reachable; }  // away: no delivery, topics stay as they are

  // Holds back one partition's deliveries, or lets them go again.
  void hold(const std::string& topic, std::int32_t partition);
  void let_go(const std::string& topic, std::int32_t partition);

  // From now on only as many records are delivered as `deliver` allows, in all; negative = without limit again.
  void deliver(std::int64_t records) { allowance_ = records < 0 ? kNoLimit : records; }

  // Judges every record as it is delivered: a reason makes it kRejected. Nothing is stored then.
  void reject_if(std::function<std::optional<std::string>(const StoredRecord&)> judge) { judge_ = std::move(judge); }

  // The next `records` deliveries are kUnknown; `arrived` says whether the records were stored all the same.
  void lose(std::size_t records, bool arrived);

  // A fatal error: at the next drain every outstanding record is kUnknown, the oldest `arrived` of them stored.
  void break_producer(std::string reason, std::size_t arrived = 0);

  // What arrived, in order. With `on_stored` set, records go there instead and nothing is kept.
  const std::vector<StoredRecord>& stored() const { return stored_; }
  std::vector<StoredRecord> stored(const std::string& topic, std::int32_t partition) const;
  void on_stored(std::function<void(const StoredRecord&)> observer) { observer_ = std::move(observer); }

 private:
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  struct Entry {
    std::string name;
    Topic topic;
  };
  struct Broker {
    std::int32_t partitions = 0;
    std::string refused;
  };
  struct Pending {
    std::uint64_t token;
    TopicId topic;
    bool dropped;  // its topic went away meanwhile
    StoredRecord record;
  };

  Topic as_broker_sees(const std::string& name) const;
  void resolve_topics(SinkEvents& events);
  void fail_all(SinkEvents& events);
  Delivery settle(Pending& pending);
  void store(StoredRecord& record);

  FakeSinkLimits limits_;
  std::vector<Entry> topics_;
  std::map<std::string, TopicId, std::less<>> ids_;
  std::map<std::string, Broker, std::less<>> broker_;
  std::set<std::pair<std::string, std::int32_t>> held_;
  std::map<std::pair<TopicId, std::int32_t>, std::size_t> per_partition_;
  std::deque<Pending> pending_;
  std::vector<StoredRecord> stored_;
  std::function<std::optional<std::string>(const StoredRecord&)> judge_;
  std::function<void(const StoredRecord&)> observer_;
  std::string last_reason_;
  std::optional<std::string> broken_;
  std::size_t arrived_when_broken_ = 0;
  std::size_t losing_ = 0;
  bool lost_arrive_ = false;
  bool reachable_ = true;
  std::int64_t allowance_ = kNoLimit;
  std::uint64_t keyless_ = 0;
};

}  // namespace spillway::ports
