#include "support/topic_reader.h"

#include <gtest/gtest.h>

#include "support/kafka_broker.h"
#include "support/produce_for_test.h"

namespace spillway::testing {
namespace {

TEST(TopicReader, ReadsEveryRecordWithEverythingItCarries) {
  KafkaBroker broker({.auto_create_topics = false});
  broker.create_topic("orders", 2);
  const TopicReader reader(broker.bootstrap());
  EXPECT_TRUE(reader.read_all("orders").empty());
  EXPECT_TRUE(reader.read_all("no-such-topic").empty());

  const auto producer = make_producer(broker.bootstrap());
  const auto error = rd_kafka_producev(producer.get(), RD_KAFKA_V_TOPIC("orders"), RD_KAFKA_V_PARTITION(1),
                                       RD_KAFKA_V_KEY("", 0), RD_KAFKA_V_TIMESTAMP(1700000000123),
                                       RD_KAFKA_V_HEADER("id", "abc", 3), RD_KAFKA_V_HEADER("none", nullptr, 0),
                                       RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
  ASSERT_EQ(error, RD_KAFKA_RESP_ERR_NO_ERROR);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(
        rd_kafka_producev(producer.get(), RD_KAFKA_V_TOPIC("orders"), RD_KAFKA_V_PARTITION(0),
                          RD_KAFKA_V_VALUE(&i, sizeof i), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
        RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  ASSERT_EQ(rd_kafka_flush(producer.get(), 20000), RD_KAFKA_RESP_ERR_NO_ERROR);

  std::int64_t next = 0;
  int seen_special = 0;
  for (const TopicRecord& record : reader.read_all("orders")) {
    if (record.partition == 0) {
      EXPECT_EQ(record.offset, next++);
      EXPECT_FALSE(record.key.has_value());
      continue;
    }
    ++seen_special;
    EXPECT_EQ(record.key, "");
    EXPECT_FALSE(record.value.has_value());
    EXPECT_EQ(record.timestamp_ms, 1700000000123);
    EXPECT_EQ(record.header("id"), "abc");
    ASSERT_EQ(record.headers.size(), 2U);
    EXPECT_EQ(record.headers[1], (std::pair<std::string, std::optional<std::string>>{"none", std::nullopt}));
  }
  EXPECT_EQ(next, 1000);
  EXPECT_EQ(seen_special, 1);
}

}  // namespace
}  // namespace spillway::testing
