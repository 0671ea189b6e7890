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
  ASSERT_TRUE(enqueue(producer.get(), {.topic = "orders",
                                       .partition = 1,
                                       .key = "",
                                       .timestamp_ms = 1700000000123,
                                       .headers = {{"id", "abc"}, {"none", std::nullopt}}}));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(enqueue(producer.get(), {.topic = "orders", .partition = 0, .value = std::to_string(i)}));
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
