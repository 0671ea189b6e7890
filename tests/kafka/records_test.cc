// What a real broker takes, refuses and stores.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "kafka/sink_rig.h"
#include "support/kafka_broker.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace spillway::kafka {
namespace {

using ports::DeliveryOutcome;
using ports::SendOutcome;
using ports::TopicState;
using ::testing::HasSubstr;

class OnBroker : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    broker_ =
        std::make_unique<testing::KafkaBroker>(testing::KafkaOptions{.auto_create_topics = false, .properties = {}});
  }
  static void TearDownTestSuite() { broker_.reset(); }

  static std::string random_bytes(std::size_t size) {
    static std::mt19937 random(7);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
  }

  inline static std::unique_ptr<testing::KafkaBroker> broker_;
};

std::string libs_folder() {
  const char* given = std::getenv("KAFKA_LIBS_DIR");
  return given != nullptr ? given : SPILLWAY_TEST_FOLDER "/../../build/kafka/libs";
}

std::vector<std::int32_t> java_partitions(const std::vector<std::string>& keys, int partitions) {
  const testing::TempDir folder("java-keys");
  std::ofstream file(folder.path() / "keys");
  for (const std::string& key : keys) {
    for (const char byte : key) file << fmt::format("{:02x}", static_cast<unsigned char>(byte));
    file << '\n';
  }
  file.close();
  const testing::Finished finished = testing::run(
      {.args = {"sh", "-c", R"(exec java -XX:TieredStopAtLevel=1 -cp "$1/*" "$2" "$3" < "$4")", "sh", libs_folder(),
                SPILLWAY_TEST_FOLDER "/Partitions.java", std::to_string(partitions), folder.path() / "keys"}});
  EXPECT_EQ(finished.exit_status, 0) << finished.err;
  std::istringstream out(finished.out);
  return {std::istream_iterator<std::int32_t>(out), {}};
}

TEST_F(OnBroker, AThousandKeysLandWhereTheJavaProducerPutsThem) {
  broker_->create_topic("keys", 17);
  SinkRig rig(broker_->bootstrap());
  const ports::TopicId id = rig.ready("keys");
  std::vector<std::string> keys = {"",     "a",  "schlüssel",          "ключ",
                                   "キー", "🔑", std::string(1, '\0'), std::string("a\nb")};
  while (keys.size() < 1000) keys.push_back(random_bytes(keys.size() % 40));
  const std::vector<std::int32_t> expected = java_partitions(keys, 17);
  ASSERT_EQ(expected.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(rig.sink().partition_for(id, keys[i]), expected[i]) << i;
}

TEST_F(OnBroker, ARecordAboveTheTopicsLimitIsRejectedAndItsNeighboursAreNot) {
  broker_->create_topic("limited", 1);
  SinkRig rig(broker_->bootstrap());
  const ports::TopicId id = rig.ready("limited");
  const std::string large = random_bytes(2 << 20);
  std::vector<SendOutcome> outcomes;
  for (std::uint64_t token = 0; token < 1000; ++token) {
    outcomes.push_back(
        rig.send({.topic = id, .partition = 0, .key = "k", .value = token == 500 ? large : "small"}, token));
  }
  EXPECT_EQ(std::ranges::count(outcomes, SendOutcome::kQueued), 999);
  EXPECT_EQ(outcomes[500], SendOutcome::kRejected);
  EXPECT_THAT(rig.sink().last_reason(), HasSubstr("limited"));
  EXPECT_THAT(rig.sink().last_reason(), HasSubstr("1048588"));
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.count(DeliveryOutcome::kAcknowledged), 999U);
  EXPECT_EQ(rig.rebuilds, 0);
}

// With compression on, only the broker can tell.
TEST_F(OnBroker, ARecordThatOnlyTheBrokerCanRefuseIsRejectedAlone) {
  broker_->create_topic("judged", 1);
  SinkRig rig(broker_->bootstrap(), {{"compression.type", "lz4"}});
  const ports::TopicId id = rig.ready("judged");
  const std::string large = random_bytes(2 << 20);
  const std::string compressible(2 << 20, 'x');
  for (std::uint64_t token = 0; token < 100; ++token) {
    const std::string value = token == 50 ? large : token == 60 ? compressible : "small";
    ASSERT_EQ(rig.send({.topic = id, .partition = 0, .key = "k", .value = value}, token), SendOutcome::kQueued);
  }
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.count(DeliveryOutcome::kAcknowledged), 99U);
  ASSERT_EQ(rig.count(DeliveryOutcome::kRejected), 1U);
  const auto refused = std::ranges::find(rig.deliveries, DeliveryOutcome::kRejected, &ports::Delivery::outcome);
  EXPECT_EQ(refused->token, 50U);
  EXPECT_THAT(refused->reason, HasSubstr("MSG_SIZE_TOO_LARGE"));
}

TEST_F(OnBroker, BatchesKeepToATopicsSmallLimit) {
  broker_->create_topic("small", 1, {{"max.message.bytes", "20000"}});
  SinkRig rig(broker_->bootstrap());
  const ports::TopicId id = rig.ready("small");
  const std::string value(1000, 'v');
  for (std::uint64_t token = 0; token < 2000; ++token) {
    ASSERT_EQ(rig.send({.topic = id, .partition = 0, .key = "k", .value = value}, token), SendOutcome::kQueued);
  }
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.count(DeliveryOutcome::kAcknowledged), 2000U);
  EXPECT_EQ(rig.rebuilds, 0);
}

TEST_F(OnBroker, ACompactedTopicRefusesARecordWithoutAKeyAndNothingElse) {
  broker_->create_topic("compacted", 1, {{"cleanup.policy", "compact"}});
  SinkRig rig(broker_->bootstrap());
  const ports::TopicId id = rig.ready("compacted");
  EXPECT_EQ(rig.send({.topic = id, .partition = 0, .key = "k", .value = "1"}, 1), SendOutcome::kQueued);
  EXPECT_EQ(rig.send({.topic = id, .partition = 0, .value = "2"}, 2), SendOutcome::kRejected);
  EXPECT_THAT(rig.sink().last_reason(), HasSubstr("without a key"));
  EXPECT_EQ(rig.send({.topic = id, .partition = 0, .key = "k"}, 3), SendOutcome::kQueued);
  EXPECT_EQ(rig.send({.topic = id, .partition = 0, .key = "", .value = ""}, 4), SendOutcome::kQueued);
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.count(DeliveryOutcome::kAcknowledged), 3U);
}

TEST_F(OnBroker, NoBackdatedRecordIsRefused) {
  broker_->create_topic("old", 1);
  SinkRig rig(broker_->bootstrap());
  const ports::TopicId id = rig.ready("old");
  rig.send({.topic = id, .partition = 0, .value = "v", .unix_millis = 1}, 1);
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.count(DeliveryOutcome::kAcknowledged), 1U);
  EXPECT_EQ(read_topic(broker_->bootstrap(), "old").front().unix_millis, 1);
}

TEST(OnBrokerThatCreatesTopics, AnUnknownTopicIsCreatedAndNeverSeenAsMissing) {
  testing::KafkaBroker broker;
  SinkRig rig(broker.bootstrap());
  const ports::TopicId id = rig.sink().topic_id("new");
  ASSERT_TRUE(rig.until([&] {
    EXPECT_NE(rig.sink().topic(id).state, TopicState::kMissing);
    return rig.sink().topic(id).state == TopicState::kReady;
  }));
  rig.send({.topic = id, .partition = 0, .value = "v"}, 1);
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.count(DeliveryOutcome::kAcknowledged), 1U);
}

class Acls {
 public:
  explicit Acls(const std::string& bootstrap) {
    char text[256];
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), text, sizeof text);
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
  }
  ~Acls() { rd_kafka_destroy(client_); }

  void add(const char* topic, rd_kafka_AclOperation_t operation, rd_kafka_AclPermissionType_t permission) {
    char text[256];
    rd_kafka_AclBinding_t* acl =
        rd_kafka_AclBinding_new(RD_KAFKA_RESOURCE_TOPIC, topic, RD_KAFKA_RESOURCE_PATTERN_LITERAL, "User:ANONYMOUS",
                                "*", operation, permission, text, sizeof text);
    rd_kafka_queue_t* queue = rd_kafka_queue_new(client_);
    rd_kafka_CreateAcls(client_, &acl, 1, nullptr, queue);
    rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 10'000);
    EXPECT_NE(event, nullptr);
    EXPECT_EQ(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_AclBinding_destroy(acl);
  }

 private:
  rd_kafka_t* client_;
};

TEST(OnBrokerWithRights, TopicsThatMayNotBeWrittenAreRefusedAndOthersFlow) {
  testing::KafkaBroker broker(
      {.auto_create_topics = false,
       .properties = {{"authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"},
                      {"allow.everyone.if.no.acl.found", "true"}}});
  for (const char* topic : {"open", "hidden", "readonly"}) broker.create_topic(topic, 1);
  Acls acls(broker.bootstrap());
  acls.add("readonly", RD_KAFKA_ACL_OPERATION_READ, RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW);
  acls.add("hidden", RD_KAFKA_ACL_OPERATION_ALL, RD_KAFKA_ACL_PERMISSION_TYPE_DENY);

  SinkRig rig(broker.bootstrap());
  const ports::TopicId hidden = rig.sink().topic_id("hidden");
  const ports::TopicId readonly = rig.ready("readonly");
  const ports::TopicId open = rig.ready("open");
  ASSERT_TRUE(rig.until([&] { return rig.sink().topic(hidden).state == TopicState::kRefused; }));
  EXPECT_THAT(rig.sink().topic(hidden).reason, HasSubstr("TOPIC_AUTHORIZATION_FAILED"));

  rig.send({.topic = open, .partition = 0, .value = "v"}, 1);
  rig.send({.topic = readonly, .partition = 0, .value = "v"}, 2);
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.sink().topic(readonly).state, TopicState::kRefused);
  rig.send({.topic = open, .partition = 0, .value = "v"}, 3);
  ASSERT_TRUE(rig.settled());
  EXPECT_EQ(rig.count(DeliveryOutcome::kAcknowledged), 2U);
  EXPECT_EQ(rig.count(DeliveryOutcome::kRejected), 1U);
  EXPECT_EQ(rig.rebuilds, 0);
}

}  // namespace
}  // namespace spillway::kafka
