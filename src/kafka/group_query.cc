#include "kafka/group_query.h"

#include <fmt/core.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <map>

namespace spillway::kafka {
namespace {

using QueuePtr = std::unique_ptr<rd_kafka_queue_t, decltype(&rd_kafka_queue_destroy)>;
using EventPtr = std::unique_ptr<rd_kafka_event_t, decltype(&rd_kafka_event_destroy)>;
using OptionsPtr = std::unique_ptr<rd_kafka_AdminOptions_t, decltype(&rd_kafka_AdminOptions_destroy)>;
using QuestionPtr =
    std::unique_ptr<rd_kafka_ListConsumerGroupOffsets_t, decltype(&rd_kafka_ListConsumerGroupOffsets_destroy)>;
using PartitionsPtr =
    std::unique_ptr<rd_kafka_topic_partition_list_t, decltype(&rd_kafka_topic_partition_list_destroy)>;

std::unexpected<base::Error> failed(rd_kafka_resp_err_t code, const std::string& text) {
  const bool forbidden = code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
  return base::fail(forbidden ? base::ErrorClass::kMisconfigured : base::ErrorClass::kUnavailable,
                    fmt::format("{} ({})", text, rd_kafka_err2name(code)));
}

base::Result<std::vector<GroupPartition>> read_committed(const rd_kafka_event_t* event) {
  const rd_kafka_resp_err_t error = rd_kafka_event_error(const_cast<rd_kafka_event_t*>(event));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return failed(error, rd_kafka_event_error_string(const_cast<rd_kafka_event_t*>(event)));
  }
  const auto* result = rd_kafka_event_ListConsumerGroupOffsets_result(const_cast<rd_kafka_event_t*>(event));
  std::size_t count = 0;
  const rd_kafka_group_result_t** groups = rd_kafka_ListConsumerGroupOffsets_result_groups(result, &count);
  std::vector<GroupPartition> all;
  for (std::size_t i = 0; i < count; ++i) {
    if (const rd_kafka_error_t* refused = rd_kafka_group_result_error(groups[i])) {
      return failed(rd_kafka_error_code(refused), rd_kafka_error_string(refused));
    }
    const rd_kafka_topic_partition_list_t* partitions = rd_kafka_group_result_partitions(groups[i]);
    for (int j = 0; partitions != nullptr && j < partitions->cnt; ++j) {
      const rd_kafka_topic_partition_t& one = partitions->elems[j];
      if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR || one.offset < 0) continue;
      all.push_back({one.topic, one.partition, one.offset, std::nullopt, {}, false});
    }
  }
  return all;
}

bool is_missing(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
         code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

void no_end(GroupPartition& partition, rd_kafka_resp_err_t code) {
  partition.missing = is_missing(code);
  partition.trouble = fmt::format("{} ({})", rd_kafka_err2str(code), rd_kafka_err2name(code));
}

// By the call that looks offsets up by time: it asks for all partitions of a topic at once, looks for a leader that has
// moved, and keeps its time limit, none of which the call for one partition's watermarks does before librdkafka 2.3.0.
void ask_ends(rd_kafka_t* handle, const std::string& topic, const std::vector<GroupPartition*>& partitions,
              int limit_ms) {
  const PartitionsPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())),
                           &rd_kafka_topic_partition_list_destroy);
  for (const GroupPartition* one : partitions) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), one->partition)->offset = RD_KAFKA_OFFSET_END;
  }
  const rd_kafka_resp_err_t error = rd_kafka_offsets_for_times(handle, list.get(), limit_ms);
  for (GroupPartition* one : partitions) {
    const rd_kafka_topic_partition_t* found =
        rd_kafka_topic_partition_list_find(list.get(), topic.c_str(), one->partition);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      no_end(*one, error);
    } else if (found == nullptr || found->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      no_end(*one, found == nullptr ? RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION : found->err);
    } else if (found->offset < 0) {
      one->trouble = "the broker gave no end offset";
    } else {
      one->end = found->offset;
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<GroupQuery>> GroupQuery::create(const Properties& properties, std::string group) {
  Properties own = properties;
  own.emplace_back("client.id", "spillway-lag");
  own.emplace_back("statistics.interval.ms", "0");
  own.emplace_back("isolation.level", "read_uncommitted");
  // Without a group of its own a handle crashes where a broker says that it is not the group's coordinator (librdkafka
  // issue 5040, at least up to 2.10).
  own.emplace_back("group.id", group);
  own.emplace_back("enable.auto.commit", "false");
  std::unique_ptr<GroupQuery> query(new GroupQuery(std::move(own), std::move(group)));
  if (auto connected = query->connect(); !connected) return std::unexpected(connected.error());
  return query;
}

GroupQuery::~GroupQuery() {
  if (handle_ != nullptr) rd_kafka_destroy(handle_);
}

base::Status GroupQuery::connect() {
  auto conf = make_conf(properties_);
  if (!conf) return std::unexpected(conf.error());
  // librdkafka warns about every property that only a producer understands; the sink reports the brokers' state.
  rd_kafka_conf_set_log_cb(*conf, [](const rd_kafka_t*, int, const char*, const char*) {});
  std::array<char, 512> text{};
  handle_ = rd_kafka_new(RD_KAFKA_CONSUMER, *conf, text.data(), text.size());
  if (handle_ != nullptr) return {};
  rd_kafka_conf_destroy(*conf);
  return base::fail(base::ErrorClass::kMisconfigured, fmt::format("kafka: {}", text.data()));
}

base::Result<std::vector<GroupPartition>> GroupQuery::ask_committed(std::chrono::milliseconds limit) {
  const int limit_ms = static_cast<int>(limit.count());
  const OptionsPtr options(rd_kafka_AdminOptions_new(handle_, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS),
                           &rd_kafka_AdminOptions_destroy);
  rd_kafka_AdminOptions_set_request_timeout(options.get(), limit_ms, nullptr, 0);
  const QuestionPtr question(rd_kafka_ListConsumerGroupOffsets_new(group_.c_str(), nullptr),
                             &rd_kafka_ListConsumerGroupOffsets_destroy);
  const QueuePtr queue(rd_kafka_queue_new(handle_), &rd_kafka_queue_destroy);
  rd_kafka_ListConsumerGroupOffsets_t* questions[] = {question.get()};
  rd_kafka_ListConsumerGroupOffsets(handle_, questions, 1, options.get(), queue.get());
  const EventPtr event(rd_kafka_queue_poll(queue.get(), 2 * limit_ms), &rd_kafka_event_destroy);
  if (!event) return base::fail(base::ErrorClass::kUnavailable, "no broker answers in time");
  coordinator_moved_ = rd_kafka_event_error(event.get()) == RD_KAFKA_RESP_ERR_NOT_COORDINATOR;
  return read_committed(event.get());
}

base::Result<std::vector<GroupPartition>> GroupQuery::ask(std::chrono::milliseconds limit) {
  // A handle remembers the coordinator for minutes, wrong or not.
  if (coordinator_moved_ && handle_ != nullptr) rd_kafka_destroy(std::exchange(handle_, nullptr));
  coordinator_moved_ = false;
  if (handle_ == nullptr) {
    if (auto connected = connect(); !connected) return std::unexpected(connected.error());
  }
  auto partitions = ask_committed(limit);
  if (!partitions) return partitions;
  std::map<std::string, std::vector<GroupPartition*>> topics;
  for (GroupPartition& one : *partitions) topics[one.topic].push_back(&one);
  for (const auto& [topic, of_topic] : topics) {
    ask_ends(handle_, topic, of_topic, static_cast<int>(limit.count()));
  }
  return partitions;
}

}  // namespace spillway::kafka
