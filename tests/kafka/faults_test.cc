// A broker that dies, freezes, forgets, and a network that breaks, while records flow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "flow.h"
#include "support/kafka_broker.h"
#include "support/tcp_proxy.h"

namespace spillway::kafka {
namespace {

using ports::TopicState;
using std::chrono::seconds;

testing::KafkaOptions without_creation() { return {.auto_create_topics = false, .properties = {}}; }

TEST(BrokerFaults, AMissingTopicHoldsBackNothingElseAndFlowsOnceItExists) {
  testing::KafkaBroker broker(without_creation());
  broker.create_topic("present", 1);
  SinkRig rig(broker.bootstrap());
  Flow present(rig, "present", 1, 500);
  const ports::TopicId absent = rig.sink().topic_id("absent");
  ASSERT_TRUE(present.finish());
  ASSERT_TRUE(rig.until([&] { return rig.sink().topic(absent).state == TopicState::kMissing; }));
  broker.create_topic("absent", 2);
  ASSERT_TRUE(rig.until([&] { return rig.sink().topic(absent).state == TopicState::kReady; }, seconds(3)));
  Flow flow(rig, "absent", 2, 100);
  ASSERT_TRUE(flow.finish());
  EXPECT_EQ(flow.check(read_topic(broker.bootstrap(), "absent")), 0U);
}

TEST(BrokerFaults, ATopicDeletedAndRecreatedWhileRecordsFlow) {
  testing::KafkaBroker broker(without_creation());
  broker.create_topic("reborn", 2);
  broker.create_topic("bystander", 1);
  SinkRig rig(broker.bootstrap());
  Flow flow(rig, "reborn", 2, 60'000);
  ASSERT_TRUE(flow.until([&] { return flow.acknowledged() > 500; }));
  const ports::TopicId id = rig.sink().topic_id("reborn");
  broker.delete_topic("reborn");
  ASSERT_TRUE(flow.until([&] { return rig.sink().topic(id).state == TopicState::kMissing; }));
  ASSERT_TRUE(flow.rest());
  const std::uint64_t lost_with_the_topic = flow.furthest();

  Flow bystander(rig, "bystander", 1, 500);
  ASSERT_TRUE(bystander.finish());

  broker.create_topic("reborn", 2);
  ASSERT_TRUE(flow.finish());
  flow.check(read_topic(broker.bootstrap(), "reborn"), lost_with_the_topic);
  EXPECT_EQ(bystander.check(read_topic(broker.bootstrap(), "bystander")), 0U);
}

TEST(BrokerFaults, ATopicRecreatedAtOnceTakesUpTheFlow) {
  testing::KafkaBroker broker(without_creation());
  broker.create_topic("swapped", 2);
  SinkRig rig(broker.bootstrap());
  Flow flow(rig, "swapped", 2, 60'000);
  ASSERT_TRUE(flow.until([&] { return flow.acknowledged() > 500; }));
  broker.delete_topic("swapped");
  broker.create_topic("swapped", 2);
  const std::uint64_t lost_with_the_topic = flow.furthest() + 20'000;  // what was on its way meanwhile included
  ASSERT_TRUE(flow.finish());
  flow.check(read_topic(broker.bootstrap(), "swapped"), lost_with_the_topic);
}

TEST(BrokerFaults, ABrokerThatForgotEverythingIsTakenAsItIs) {
  testing::KafkaBroker broker(without_creation());  // or the sink's question creates the topic before the test does
  broker.create_topic("wiped", 3);
  SinkRig rig(broker.bootstrap());
  Flow flow(rig, "wiped", 3, 10'000);
  ASSERT_TRUE(flow.until([&] { return flow.acknowledged() > 1000; }));
  // Frozen, the broker acknowledges nothing of what is on its way to it when it dies: all of that must come again.
  ASSERT_TRUE(flow.rest());
  broker.freeze();
  const std::uint64_t lost_with_the_data = flow.furthest();
  for (int i = 0; i < 20; ++i) {
    flow.turn(100);
    rig.wait(5);
  }
  broker.wipe();
  for (int i = 0; i < 20; ++i) flow.turn(100);  // goes on sending into the void
  broker.start();
  broker.create_topic("wiped", 3);
  ASSERT_TRUE(flow.finish());
  flow.check(read_topic(broker.bootstrap(), "wiped"), lost_with_the_data);
}

TEST(BrokerFaults, AKilledBrokerThatKeptItsDataLosesNothingAndKeepsTheOrder) {
  testing::KafkaBroker broker(without_creation());
  broker.create_topic("killed", 3);
  SinkRig rig(broker.bootstrap());
  Flow flow(rig, "killed", 3, 10'000);
  for (const std::uint64_t mark : {1000U, 5000U}) {
    ASSERT_TRUE(flow.until([&] { return flow.acknowledged() > mark; }));
    broker.kill9();
    for (int i = 0; i < 20; ++i) flow.turn(20);
    broker.start();
  }
  ASSERT_TRUE(flow.finish());
  flow.check(read_topic(broker.bootstrap(), "killed"));
  ASSERT_FALSE(rig.broker_changes.empty());
  EXPECT_EQ(rig.broker_changes.front().now, BrokerState::kAway);
  EXPECT_TRUE(rig.until([&] { return rig.broker_changes.back().now == BrokerState::kUp; }));
}

TEST(BrokerFaults, AFrozenBrokerOnlyDelays) {
  testing::KafkaBroker broker(without_creation());
  broker.create_topic("frozen", 3);
  SinkRig rig(broker.bootstrap(), {}, 2000);
  Flow flow(rig, "frozen", 3, 5000);
  ASSERT_TRUE(flow.until([&] { return flow.acknowledged() > 1000; }));
  broker.freeze();
  const auto until = std::chrono::steady_clock::now() + seconds(10);
  while (std::chrono::steady_clock::now() < until) {
    const auto before = std::chrono::steady_clock::now();
    flow.turn(20);
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(500)) << "the owner was blocked";
    rig.wait(50);
  }
  EXPECT_LE(rig.sink().outstanding(), 2000U);
  broker.thaw();
  ASSERT_TRUE(flow.finish());
  EXPECT_EQ(flow.check(read_topic(broker.bootstrap(), "frozen")), 0U);
  EXPECT_EQ(rig.rebuilds, 0);
}

TEST(BrokerFaults, EndsWithinItsLimitWhileTheBrokerIsFrozen) {
  testing::KafkaBroker broker(without_creation());
  broker.create_topic("stuck", 1);
  SinkRig rig(broker.bootstrap());
  const ports::TopicId id = rig.ready("stuck");
  broker.freeze();
  for (std::uint64_t token = 0; token < 10'000; ++token) rig.send({.topic = id, .partition = 0, .value = "v"}, token);
  rig.wait(200);
  const auto before = std::chrono::steady_clock::now();
  rig.destroy();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(3500));
  broker.thaw();
}

// Cuts while several requests are in flight, with every in-flight setting that is allowed.
TEST(BrokerFaults, ConnectionsThatAreCutNeitherLoseNorReorder) {
  testing::TcpProxy proxy;
  testing::KafkaBroker broker({.auto_create_topics = false, .advertised_by_proxy = proxy.port(), .properties = {}});
  proxy.set_target(broker.proxied_port());
  for (const Properties& more : {Properties{}, Properties{{"max.in.flight", "1"}},
                                 Properties{{"linger.ms", "0"}, {"batch.num.messages", "7"}}}) {
    const std::string topic = "cut-" + std::to_string(more.size());
    broker.create_topic(topic, 2);
    SinkRig rig("127.0.0.1:" + std::to_string(proxy.port()), more);
    Flow flow(rig, topic, 2, 10'000);
    for (int cut = 1; cut <= 6; ++cut) {
      ASSERT_TRUE(
          flow.until([&] { return flow.acknowledged() > static_cast<std::uint64_t>(cut) * 2000; }, seconds(30)));
      proxy.cut(cut % 2 == 0 ? testing::TcpProxy::Cut::kReset : testing::TcpProxy::Cut::kClose);
    }
    ASSERT_TRUE(flow.finish()) << topic;
    flow.check(read_topic(broker.bootstrap(), topic));
  }
}

TEST(BrokerFaults, AFatalErrorUnderLoadIsOverByItself) {
  testing::KafkaBroker broker(without_creation());
  broker.create_topic("fatal", 3);
  SinkRig rig(broker.bootstrap());
  Flow flow(rig, "fatal", 3, 10'000);
  int provoked = 0;
  for (const std::uint64_t mark : {1000U, 5000U, 10'000U}) {
    ASSERT_TRUE(flow.until([&] { return flow.acknowledged() > mark; }));
    rig.sink().provoke_fatal_error("sequence desynchronization");
    ++provoked;
    ASSERT_TRUE(flow.until([&] { return rig.rebuilds == provoked; }));  // a second error of one producer adds nothing
  }
  ASSERT_TRUE(flow.finish());
  EXPECT_EQ(rig.rebuilds, 3);
  flow.check(read_topic(broker.bootstrap(), "fatal"));
}

}  // namespace
}  // namespace spillway::kafka
