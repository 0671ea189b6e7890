// Blocking questions about a consumer group: what it committed, and what still waits for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kafka/properties.h"

struct rd_kafka_s;

namespace spillway::kafka {

struct GroupPartition {
  std::string topic;
  std::int32_t partition = 0;
  std::int64_t committed = 0;
  // The next offset to be written. It counts what a transaction still holds back and the transaction's own markers, so
  // the difference to `committed` never says less than what waits. Empty where the broker did not say.
  std::optional<std::int64_t> end;
  std::string trouble;   // why there is no end
  bool missing = false;  // the broker knows no such topic or partition
};

// Never joins the group and commits nothing. One thread at a time. Joins librdkafka's threads in its destructor, which
// may take long.
class GroupQuery {
 public:
  // The relay's properties; those that only a producer understands are ignored. kMisconfigured where librdkafka refuses
  // them. Brokers may be away.
  static base::Result<std::unique_ptr<GroupQuery>> create(const Properties& properties, std::string group);
  ~GroupQuery();
  GroupQuery(const GroupQuery&) = delete;
  GroupQuery& operator=(const GroupQuery&) = delete;

  // Every partition that the group has a committed offset for; none where it committed nothing or does not exist.
  // Each of the questions takes at most `limit`: one about the group and one for each topic. librdkafka before 2.3.0
  // does not always keep its own limits (its issues 4225 and 4460), so the caller watches the time.
  base::Result<std::vector<GroupPartition>> ask(std::chrono::milliseconds limit);

 private:
  GroupQuery(Properties properties, std::string group) : properties_(std::move(properties)), group_(std::move(group)) {}

  base::Status connect();
  base::Result<std::vector<GroupPartition>> ask_committed(std::chrono::milliseconds limit);

  Properties properties_;
  std::string group_;
  rd_kafka_s* handle_ = nullptr;
  bool coordinator_moved_ = false;
};

}  // namespace spillway::kafka
