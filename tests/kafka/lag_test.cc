// The lag of a consumer group, asked of a real broker.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "kafka/group_query.h"
#include "signals/signal_hub.h"
#include "support/consume_for_test.h"
#include "support/eventually.h"
#include "support/kafka_broker.h"
#include "support/produce_for_test.h"

namespace spillway::signals {
namespace {

using namespace std::chrono_literals;

class LagOnABroker : public ::testing::Test {
 protected:
  void produce(const std::string& topic, int partition, int count) {
    const auto producer = spillway::testing::make_producer(broker_.bootstrap());
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(spillway::testing::enqueue(producer.get(), {.topic = topic, .partition = partition, .value = "v"}));
    }
    ASSERT_EQ(rd_kafka_flush(producer.get(), 20'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void commit(const std::string& topic, int partition, std::int64_t offset) {
    ASSERT_EQ(spillway::testing::commit_offset(broker_.bootstrap(), "payments", topic, partition, offset), "");
  }
  std::unique_ptr<kafka::GroupQuery> query() {
    return std::move(*kafka::GroupQuery::create({{"bootstrap.servers", broker_.bootstrap()}}, "payments"));
  }

  spillway::testing::KafkaBroker broker_{{.auto_create_topics = false}};
};

TEST_F(LagOnABroker, WhatIsCommittedWhatWaitsAndWhatIsGone) {
  broker_.create_topic("orders", 2);
  broker_.create_topic("old");
  const auto asking = query();
  // A broker that has just started does not know yet whom it coordinates, and says so.
  base::Result<std::vector<kafka::GroupPartition>> nobody;
  spillway::testing::eventually([&] {
    nobody = asking->ask(2s);
    return nobody.has_value();
  });
  ASSERT_TRUE(nobody) << nobody.error().message;
  EXPECT_TRUE(nobody->empty()) << "the group does not exist";
  produce("orders", 0, 10);
  produce("orders", 1, 5);
  commit("orders", 0, 4);
  commit("orders", 1, 5);
  commit("old", 0, 0);
  auto partitions = asking->ask(10s);
  ASSERT_TRUE(partitions) << partitions.error().message;
  ASSERT_EQ(partitions->size(), 3u);
  for (const auto& one : *partitions) {
    ASSERT_TRUE(one.end) << one.topic << one.partition << ": " << one.trouble;
    EXPECT_EQ(*one.end - one.committed, one.topic == "orders" && one.partition == 0 ? 6 : 0);
  }
  // The broker drops a deleted topic's commits; until then it is missing, and it never hides the other.
  broker_.delete_topic("old");
  partitions = asking->ask(2s);
  ASSERT_TRUE(partitions) << partitions.error().message;
  for (const auto& one : *partitions) {
    EXPECT_EQ(one.missing, one.topic == "old") << one.topic << ": " << one.trouble;
    EXPECT_EQ(one.end.has_value(), one.topic == "orders") << one.trouble;
  }
}

TEST_F(LagOnABroker, AFrozenBrokerGoesStaleAndIsSaid) {
  broker_.create_topic("orders");
  produce("orders", 0, 10);
  commit("orders", 0, 4);
  runtime::Loop loop;
  auto hub = SignalHub::open(loop,
                             {{.name = "lag",
                               .kind = config::SignalKind::kKafkaLag,
                               .every = 200ms,
                               .timeout = 200ms,
                               .group = "payments",
                               .ceiling = 2s}},
                             {{"bootstrap.servers", broker_.bootstrap()}});
  ASSERT_TRUE(hub) << hub.error().message;
  const auto until = [&](auto condition) {
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      loop.context().run_one_for(50ms);
    }
    return true;
  };
  const auto figures = [&] { return (*hub)->figures(runtime::Loop::now()).at(0); };
  std::vector<governor::SignalSample> samples;
  ASSERT_TRUE(until([&] {
    samples = (*hub)->take();
    return !samples.empty();
  })) << figures().trouble;
  EXPECT_EQ(samples[0].lag_events, 6);
  EXPECT_EQ(figures().state, SignalState::kOver) << "six wait and nobody takes them";
  broker_.freeze();
  EXPECT_TRUE(until([&] { return figures().state == SignalState::kMissing; }));
  EXPECT_NE(figures().trouble, "");
  broker_.thaw();
  (*hub)->take();
  EXPECT_TRUE(until([&] { return !(*hub)->take().empty(); })) << figures().trouble;
}

}  // namespace
}  // namespace spillway::signals
