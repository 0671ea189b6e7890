// What every Sink holds, whatever is behind it. An implementation's test derives a SinkBench and instantiates:
//
//   INSTANTIATE_TEST_SUITE_P(Fake, SinkContract, ::testing::Values([] { return std::make_unique<FakeBench>(); }));
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/sink.h"
#include "ports/stored_record.h"

namespace spillway::ports {

class SinkBench {
 public:
  virtual ~SinkBench() = default;

  virtual Sink& sink() = 0;
  // Returns once the broker has the topic. Names are used once per bench.
  virtual void create_topic(const std::string& name, std::int32_t partitions) = 0;
  // Whether an unknown topic is reported as such; false where the broker creates topics on request.
  virtual bool reports_missing_topics() const = 0;
  // Waits until the sink may have something to drain, for at most a moment.
  virtual void wait() = 0;
  // The topic's records from the start, `count` of them, in the order of each partition.
  virtual std::vector<StoredRecord> read(const std::string& topic, std::size_t count) = 0;
};

using MakeSinkBench = std::function<std::unique_ptr<SinkBench>()>;

class SinkContract : public ::testing::TestWithParam<MakeSinkBench> {
 protected:
  static constexpr auto kLimit = std::chrono::seconds(30);

  Sink& sink() { return bench_->sink(); }

  template <typename Done>
  [[nodiscard]] bool drain_until(Done done) {
    const auto give_up = std::chrono::steady_clock::now() + kLimit;
    sink().drain(events_);
    while (!done()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      bench_->wait();
      sink().drain(events_);
    }
    return true;
  }

  TopicId ready_topic(const std::string& name, std::int32_t partitions) {
    bench_->create_topic(name, partitions);
    const TopicId id = sink().topic_id(name);
    EXPECT_TRUE(drain_until([&] { return sink().topic(id).state == TopicState::kReady; })) << name;
    return id;
  }

  // Sends, draining while the sink is full.
  void send(const Record& record, std::uint64_t token) {
    SendOutcome outcome = sink().send(record, token);
    while (outcome == SendOutcome::kFull || outcome == SendOutcome::kPartitionFull) {
      bench_->wait();
      sink().drain(events_);
      outcome = sink().send(record, token);
    }
    ASSERT_EQ(outcome, SendOutcome::kQueued) << sink().last_reason();
  }

  std::unique_ptr<SinkBench> bench_ = GetParam()();
  SinkEvents events_;
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SinkContract);

TEST_P(SinkContract, GivesATopicOneNumberForEver) {
  const TopicId orders = sink().topic_id("orders");
  const TopicId payments = sink().topic_id("payments");
  EXPECT_NE(orders, payments);
  EXPECT_EQ(sink().topic_id("orders"), orders);
  EXPECT_EQ(sink().topic_name(orders), "orders");
  EXPECT_EQ(sink().topic_name(payments), "payments");
}

TEST_P(SinkContract, ReportsATopicAsReadyWithItsPartitions) {
  bench_->create_topic("sized", 3);
  const TopicId id = sink().topic_id("sized");
  EXPECT_EQ(sink().topic(id).state, TopicState::kResolving);
  ASSERT_TRUE(drain_until([&] { return sink().topic(id).state == TopicState::kReady; }));
  EXPECT_EQ(sink().topic(id).partitions, 3);
  EXPECT_NE(std::ranges::find(events_.topics, id), events_.topics.end());
}

TEST_P(SinkContract, TakesNothingForATopicThatIsNotReady) {
  const TopicId id = sink().topic_id("not-asked-before");
  EXPECT_EQ(sink().send({.topic = id, .partition = 0, .value = "x"}, 1), SendOutcome::kNotReady);
  EXPECT_EQ(sink().outstanding(), 0U);
}

TEST_P(SinkContract, TakesNothingForAPartitionThatDoesNotExist) {
  const TopicId id = ready_topic("narrow", 2);
  EXPECT_EQ(sink().send({.topic = id, .partition = 2, .value = "x"}, 1), SendOutcome::kNotReady);
  EXPECT_EQ(sink().send({.topic = id, .partition = -1, .value = "x"}, 2), SendOutcome::kNotReady);
  EXPECT_EQ(sink().outstanding(), 0U);
}

TEST_P(SinkContract, SaysThatATopicIsMissingAndSeesItAppear) {
  if (!bench_->reports_missing_topics()) GTEST_SKIP() << "topics are created on request here";
  const TopicId id = sink().topic_id("later");
  ASSERT_TRUE(drain_until([&] { return sink().topic(id).state == TopicState::kMissing; }));
  EXPECT_NE(sink().topic(id).reason.find("later"), std::string::npos) << sink().topic(id).reason;
  bench_->create_topic("later", 2);
  ASSERT_TRUE(drain_until([&] { return sink().topic(id).state == TopicState::kReady; }));
  EXPECT_EQ(sink().topic(id).partitions, 2);
}

TEST_P(SinkContract, PutsAKeyWhereJavaProducersPutIt) {
  const TopicId id = ready_topic("hashed", 6);
  // From org.apache.kafka.common.utils.UtilsTest: murmur2 of the text, made positive, modulo 6.
  const std::vector<std::pair<std::string, std::int32_t>> known = {
      {"21", -973932308},
      {"foobar", -790332482},
      {"a-little-bit-long-string", -985981536},
      {"a-little-bit-longer-string", -1486304829},
      {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
      {"abc", 479470107}};
  for (const auto& [key, hash] : known) {
    EXPECT_EQ(sink().partition_for(id, key), (hash & 0x7fffffff) % 6) << key;
  }
}

TEST_P(SinkContract, SpreadsRecordsWithoutAKey) {
  const TopicId id = ready_topic("spread", 4);
  std::vector<int> seen(4);
  for (int i = 0; i < 400; ++i) {
    const std::int32_t partition = sink().partition_for(id, std::nullopt);
    ASSERT_GE(partition, 0);
    ASSERT_LT(partition, 4);
    ++seen[static_cast<std::size_t>(partition)];
  }
  for (const int count : seen) EXPECT_GT(count, 40);
}

TEST_P(SinkContract, DeliversEveryRecordOnceInTheOrderOfItsPartition) {
  constexpr std::uint64_t kRecords = 5000;
  const TopicId id = ready_topic("ordered", 3);
  for (std::uint64_t token = 0; token < kRecords; ++token) {
    const std::string value = std::to_string(token);
    send({.topic = id, .partition = static_cast<std::int32_t>(token % 3), .key = "k", .value = value}, token);
  }
  ASSERT_TRUE(drain_until([&] { return events_.deliveries.size() >= kRecords; }));
  EXPECT_EQ(sink().outstanding(), 0U);
  ASSERT_EQ(events_.deliveries.size(), kRecords);
  std::vector<std::uint64_t> next = {0, 1, 2};
  for (const Delivery& delivery : events_.deliveries) {
    ASSERT_EQ(delivery.outcome, DeliveryOutcome::kAcknowledged) << delivery.reason;
    std::uint64_t& expected = next[delivery.token % 3];
    ASSERT_EQ(delivery.token, expected);
    expected += 3;
  }
  const std::vector<StoredRecord> stored = bench_->read("ordered", kRecords);
  ASSERT_EQ(stored.size(), kRecords);
  next = {0, 1, 2};
  for (const StoredRecord& record : stored) {
    std::uint64_t& expected = next[static_cast<std::size_t>(record.partition)];
    ASSERT_EQ(record.value, std::to_string(expected));
    expected += 3;
  }
}

TEST_P(SinkContract, CarriesEveryByteAndTellsNullFromEmpty) {
  const TopicId id = ready_topic("exact", 1);
  const std::string bytes("\x00\xff\x00 a\n", 6);
  const std::vector<Header> headers = {{"id", "018f"}, {"empty", ""}, {"id", "twice"}, {"binary", bytes}};
  const std::vector<Record> records = {
      {.topic = id, .key = "key", .value = bytes, .headers = headers, .unix_millis = 1'700'000'000'123},
      {.topic = id, .key = "key", .value = std::nullopt, .unix_millis = 1'700'000'000'124},
      {.topic = id, .key = "", .value = "", .unix_millis = 1'700'000'000'125},
      {.topic = id, .key = std::nullopt, .value = "null", .unix_millis = 1'700'000'000'126},
      {.topic = id, .key = bytes, .value = "{}", .unix_millis = 1'700'000'000'127},
  };
  for (std::size_t i = 0; i < records.size(); ++i) send(records[i], i);
  ASSERT_TRUE(drain_until([&] { return events_.deliveries.size() == records.size(); }));
  const std::vector<StoredRecord> stored = bench_->read("exact", records.size());
  ASSERT_EQ(stored.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(stored[i].key, records[i].key);
    EXPECT_EQ(stored[i].value, records[i].value);
    EXPECT_EQ(stored[i].unix_millis, records[i].unix_millis);
    ASSERT_EQ(stored[i].headers.size(), records[i].headers.size());
    for (std::size_t h = 0; h < records[i].headers.size(); ++h) {
      EXPECT_EQ(stored[i].headers[h].first, records[i].headers[h].name);
      EXPECT_EQ(stored[i].headers[h].second, records[i].headers[h].value);
    }
  }
}

}  // namespace spillway::ports
