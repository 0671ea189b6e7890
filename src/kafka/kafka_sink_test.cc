#include "kafka/kafka_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include "kafka/mock_cluster.h"
#include "kafka/sink_rig.h"
#include "ports/contract/sink_contract.h"

namespace spillway::kafka {
namespace {

using ports::DeliveryOutcome;
using ports::Record;
using ports::SendOutcome;
using ports::SinkContract;
using ports::TopicState;
using ::testing::HasSubstr;
using ::testing::Not;

class MockBench final : public ports::SinkBench {
 public:
  ports::Sink& sink() override { return rig_.sink(); }
  void create_topic(const std::string& name, std::int32_t partitions) override {
    cluster_.create_topic(name, partitions);
  }
  bool reports_missing_topics() const override { return false; }
  void wait() override { rig_.wait(); }
  std::vector<ports::StoredRecord> read(const std::string& topic, std::size_t) override {
    return read_topic(cluster_.bootstrap(), topic);
  }

 private:
  MockCluster cluster_;
  SinkRig rig_{cluster_.bootstrap(), {}, 1000};
};

INSTANTIATE_TEST_SUITE_P(Mock, SinkContract,
                         ::testing::Values(ports::MakeSinkBench([] { return std::make_unique<MockBench>(); })));

class KafkaSinkOnMock : public ::testing::Test {
 protected:
  MockCluster cluster_;
};

TEST_F(KafkaSinkOnMock, StartsWhileTheBrokerIsAwayAndGoesOnWhenItComes) {
  cluster_.create_topic("orders", 2);
  cluster_.set_reachable(false);
  SinkRig rig(cluster_.bootstrap());
  const ports::TopicId id = rig.sink().topic_id("orders");
  ASSERT_TRUE(rig.until([&] { return !rig.sink().figures().last_error.empty(); }));
  EXPECT_EQ(rig.sink().topic(id).state, TopicState::kResolving);
  EXPECT_EQ(rig.sink().figures().brokers.brokers_up, 0);
  cluster_.set_reachable(true);
  ASSERT_TRUE(rig.until([&] { return rig.sink().topic(id).state == TopicState::kReady; }));
  ASSERT_EQ(rig.send({.topic = id, .partition = 0, .value = "v"}, 1), SendOutcome::kQueued);
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.count(DeliveryOutcome::kAcknowledged), 1U);
  EXPECT_EQ(rig.rebuilds, 0);
}

TEST_F(KafkaSinkOnMock, ABrokersOutageIsSaidOnceAndItsEndOnce) {
  SinkRig rig(cluster_.bootstrap(), {{"statistics.interval.ms", "100"}});
  ASSERT_TRUE(rig.until([&] { return rig.sink().figures().brokers.brokers_up == 1; }));
  EXPECT_TRUE(rig.broker_changes.empty());
  cluster_.set_reachable(false);
  ASSERT_TRUE(rig.until([&] { return rig.sink().figures().errors["_TRANSPORT"] >= 3; }));
  ASSERT_EQ(rig.broker_changes.size(), 1U);
  EXPECT_EQ(rig.broker_changes[0].broker, cluster_.bootstrap());
  EXPECT_EQ(rig.broker_changes[0].now, BrokerState::kAway);
  EXPECT_NE(rig.broker_changes[0].reason, "");
  cluster_.set_reachable(true);
  ASSERT_TRUE(rig.until([&] { return rig.broker_changes.size() == 2; }));
  EXPECT_EQ(rig.broker_changes[1].broker, cluster_.bootstrap());
  EXPECT_EQ(rig.broker_changes[1].now, BrokerState::kUp);
}

TEST_F(KafkaSinkOnMock, TheFirstRecordOfATopicIsNotLate) {
  cluster_.create_topic("orders", 1);
  SinkRig rig(cluster_.bootstrap());
  const ports::TopicId id = rig.ready("orders");
  const auto before = std::chrono::steady_clock::now();
  rig.send({.topic = id, .partition = 0, .value = "v"}, 1);
  ASSERT_TRUE(rig.settled());
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(500));
}

TEST_F(KafkaSinkOnMock, AFatalErrorReturnsEverythingInOrderAndTheNextProducerGoesOn) {
  cluster_.create_topic("orders", 2);
  SinkRig rig(cluster_.bootstrap(), {{"linger.ms", "1000"}});
  const ports::TopicId id = rig.ready("orders");
  for (std::uint64_t token = 0; token < 10; ++token) {
    rig.send({.topic = id, .partition = static_cast<std::int32_t>(token % 2), .value = "v"}, token);
  }
  rig.sink().provoke_fatal_error("the broker forgot this producer");
  ASSERT_TRUE(rig.until([&] { return rig.rebuilds == 1; }));
  EXPECT_THAT(rig.rebuilt_reasons.front(), HasSubstr("the broker forgot this producer"));
  EXPECT_EQ(rig.sink().outstanding(), 0U);
  ASSERT_EQ(rig.deliveries.size(), 10U);
  std::uint64_t last[2] = {0, 0};
  for (const ports::Delivery& delivery : rig.deliveries) {
    EXPECT_EQ(delivery.outcome, DeliveryOutcome::kUnknown);
    EXPECT_GE(delivery.token, last[delivery.token % 2]);
    last[delivery.token % 2] = delivery.token;
  }
  EXPECT_EQ(rig.sink().send({.topic = id, .partition = 0, .value = "v"}, 10), SendOutcome::kNotReady)
      << "the next producer has not learnt about the topic yet";
  rig.ready("orders");
  ASSERT_EQ(rig.send({.topic = id, .partition = 0, .value = "again"}, 11), SendOutcome::kQueued);
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.deliveries.back().outcome, DeliveryOutcome::kAcknowledged);
  EXPECT_EQ(read_topic(cluster_.bootstrap(), "orders").size(), 1U);
  EXPECT_EQ(rig.sink().figures().rebuilds, 1U);
}

TEST_F(KafkaSinkOnMock, AFatalErrorNeverRejectsARecord) {
  cluster_.create_topic("orders", 1);
  SinkRig rig(cluster_.bootstrap());
  const ports::TopicId id = rig.ready("orders");
  rig.sink().provoke_fatal_error("forgotten");
  EXPECT_EQ(rig.sink().send({.topic = id, .partition = 0, .value = "v"}, 1), SendOutcome::kFull);
  EXPECT_EQ(rig.sink().outstanding(), 0U);
  ASSERT_TRUE(rig.until([&] { return rig.rebuilds == 1; })) << "although nothing was outstanding";
}

TEST_F(KafkaSinkOnMock, ARecordRefusedAloneIsRejectedAndTheOthersGoOn) {
  cluster_.create_topic("orders", 1);
  SinkRig rig(cluster_.bootstrap());
  const ports::TopicId id = rig.ready("orders");
  cluster_.fail_produce_requests({RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
  rig.send({.topic = id, .partition = 0, .key = "secret-key", .value = "secret-value"}, 1);
  ASSERT_TRUE(rig.settled());
  rig.send({.topic = id, .partition = 0, .value = "fine"}, 2);
  ASSERT_TRUE(rig.settled());
  ASSERT_EQ(rig.deliveries.size(), 2U);
  EXPECT_EQ(rig.deliveries[0].outcome, DeliveryOutcome::kRejected);
  EXPECT_THAT(rig.deliveries[0].reason, HasSubstr("orders"));
  EXPECT_THAT(rig.deliveries[0].reason, Not(HasSubstr("secret")));
  EXPECT_EQ(rig.deliveries[1].outcome, DeliveryOutcome::kAcknowledged);
  EXPECT_EQ(rig.rebuilds, 0);
  EXPECT_EQ(rig.sink().figures().errors.at("MSG_SIZE_TOO_LARGE"), 1U);
}

TEST_F(KafkaSinkOnMock, ABatchThatIsRefusedIsTriedAgainOneByOne) {
  cluster_.create_topic("orders", 1);
  SinkRig rig(cluster_.bootstrap(), {{"linger.ms", "50"}});
  const ports::TopicId id = rig.ready("orders");
  cluster_.fail_produce_requests({RD_KAFKA_RESP_ERR_INVALID_RECORD});
  for (std::uint64_t token = 0; token < 3; ++token) rig.send({.topic = id, .partition = 0, .value = "v"}, token);
  ASSERT_TRUE(rig.until([&] { return rig.deliveries.size() == 3; }));
  EXPECT_EQ(rig.count(DeliveryOutcome::kUnknown), 3U);
  EXPECT_EQ(rig.rebuilds, 1);
  rig.ready("orders");
  for (std::uint64_t token = 0; token < 3; ++token) {
    ASSERT_EQ(rig.sink().send({.topic = id, .partition = 0, .value = "v"}, token), SendOutcome::kQueued);
    EXPECT_EQ(rig.sink().send({.topic = id, .partition = 0, .value = "v"}, 9), SendOutcome::kPartitionFull);
    ASSERT_TRUE(rig.settled());
  }
  EXPECT_EQ(rig.sink().send({.topic = id, .partition = 0, .value = "v"}, 3), SendOutcome::kQueued);
  EXPECT_EQ(rig.sink().send({.topic = id, .partition = 0, .value = "v"}, 4), SendOutcome::kQueued) << "back to batches";
  ASSERT_TRUE(rig.settled());
}

TEST_F(KafkaSinkOnMock, ATopicWithoutTheRightToWriteIsRefused) {
  cluster_.create_topic("orders", 1);
  SinkRig rig(cluster_.bootstrap());
  const ports::TopicId id = rig.ready("orders");
  cluster_.fail_produce_requests({RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
  rig.send({.topic = id, .partition = 0, .value = "v"}, 1);
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.deliveries.front().outcome, DeliveryOutcome::kRejected);
  EXPECT_EQ(rig.sink().topic(id).state, TopicState::kRefused);
  EXPECT_THAT(rig.topics, ::testing::Contains(id));
  EXPECT_EQ(rig.sink().send({.topic = id, .partition = 0, .value = "v"}, 2), SendOutcome::kNotReady);
}

TEST_F(KafkaSinkOnMock, TheBrokersWordOnATopicIsPassedOn) {
  cluster_.fail_topic("forbidden", RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  cluster_.fail_topic("absent", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  SinkRig rig(cluster_.bootstrap());
  const ports::TopicId forbidden = rig.sink().topic_id("forbidden");
  const ports::TopicId absent = rig.sink().topic_id("absent");
  ASSERT_TRUE(rig.until([&] { return rig.sink().topic(forbidden).state == TopicState::kRefused; }));
  EXPECT_THAT(rig.sink().topic(forbidden).reason, HasSubstr("TOPIC_AUTHORIZATION_FAILED"));
  ASSERT_TRUE(rig.until([&] { return rig.sink().topic(absent).state == TopicState::kMissing; }));
  EXPECT_THAT(rig.sink().topic(absent).reason, HasSubstr("absent"));
  cluster_.fail_topic("absent", RD_KAFKA_RESP_ERR_NO_ERROR);
  EXPECT_TRUE(rig.until([&] { return rig.sink().topic(absent).state == TopicState::kReady; }));
}

TEST_F(KafkaSinkOnMock, ANameThatKafkaForbidsIsRefusedWithoutAsking) {
  SinkRig rig(cluster_.bootstrap());
  for (const std::string& name :
       {std::string("a b"), std::string(".."), std::string(250, 'x'), std::string("é"), std::string()}) {
    const ports::TopicId id = rig.sink().topic_id(name);
    EXPECT_EQ(rig.sink().topic(id).state, TopicState::kRefused) << name;
    EXPECT_FALSE(rig.sink().topic(id).reason.empty()) << name;
  }
  rig.drain();
  EXPECT_EQ(rig.topics.size(), 5U);
  EXPECT_EQ(rig.sink().topic(rig.sink().topic_id(std::string(249, 'x'))).state, TopicState::kResolving);
}

TEST_F(KafkaSinkOnMock, TheLimitsBindAndARecordLargerThanAllPassesAlone) {
  cluster_.create_topic("orders", 1);
  SinkRig rig(cluster_.bootstrap(), {}, 3);
  const ports::TopicId id = rig.ready("orders");
  cluster_.set_reachable(false);
  for (std::uint64_t token = 0; token < 3; ++token) {
    EXPECT_EQ(rig.sink().send({.topic = id, .partition = 0, .value = "v"}, token), SendOutcome::kQueued);
  }
  EXPECT_EQ(rig.sink().send({.topic = id, .partition = 0, .value = "v"}, 3), SendOutcome::kFull);
  cluster_.set_reachable(true);
  ASSERT_TRUE(rig.settled());
  const std::string large(17 << 20, 'x');
  EXPECT_EQ(rig.sink().send({.topic = id, .partition = 0, .value = large}, 4), SendOutcome::kQueued);
  EXPECT_EQ(rig.sink().send({.topic = id, .partition = 0, .value = "v"}, 5), SendOutcome::kFull);
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.count(DeliveryOutcome::kAcknowledged), 4U);
}

TEST_F(KafkaSinkOnMock, AConfiguredTimeOutIsUnknownForEverything) {
  cluster_.create_topic("orders", 1);
  SinkRig rig(cluster_.bootstrap(), {{"message.timeout.ms", "300"}});
  const ports::TopicId id = rig.ready("orders");
  cluster_.set_reachable(false);
  rig.send({.topic = id, .partition = 0, .value = "v"}, 1);
  ASSERT_TRUE(rig.until([&] { return rig.rebuilds == 1; }));
  EXPECT_EQ(rig.deliveries.front().outcome, DeliveryOutcome::kUnknown);
  EXPECT_EQ(rig.sink().outstanding(), 0U);
}

TEST_F(KafkaSinkOnMock, EndsWithinItsLimitWhileTheBrokerIsSilent) {
  cluster_.create_topic("orders", 1);
  SinkRig rig(cluster_.bootstrap());
  const ports::TopicId id = rig.ready("orders");
  cluster_.set_round_trip_ms(60'000);
  for (std::uint64_t token = 0; token < 100; ++token) rig.send({.topic = id, .partition = 0, .value = "v"}, token);
  rig.sink().topic_id("another");  // a question under way
  rig.wait();
  const auto before = std::chrono::steady_clock::now();
  rig.destroy();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(3500));
}

TEST_F(KafkaSinkOnMock, ShowsItsFigures) {
  cluster_.create_topic("orders", 1);
  SinkRig rig(cluster_.bootstrap(), {{"statistics.interval.ms", "100"}});
  const ports::TopicId id = rig.ready("orders");
  rig.send({.topic = id, .partition = 0, .value = "v"}, 1);
  EXPECT_EQ(rig.sink().figures().outstanding_records, 1U);
  EXPECT_GT(rig.sink().figures().outstanding_bytes, 0U);
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.sink().figures().acknowledged, 1U);
  EXPECT_EQ(rig.sink().figures().outstanding_bytes, 0U);
  EXPECT_TRUE(rig.until([&] { return rig.sink().figures().brokers.brokers_up == 1; }));
  EXPECT_TRUE(rig.until([&] { return rig.sink().figures().brokers.rtt_p99_ms.has_value(); }));
}

TEST(KafkaSink, SaysWhichPropertyIsWrong) {
  const auto sink = KafkaSink::create({.properties = {{"bootstrap.servers", "127.0.0.1:1"}, {"lingr.ms", "5"}}});
  ASSERT_FALSE(sink.has_value());
  EXPECT_EQ(sink.error().error_class, base::ErrorClass::kMisconfigured);
  EXPECT_THAT(sink.error().message, HasSubstr("did you mean linger.ms?"));
}

}  // namespace
}  // namespace spillway::kafka
