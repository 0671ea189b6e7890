#include "kafka/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spillway::kafka {
namespace {

using ::testing::ElementsAre;

TEST(Statistics, TheWorstBrokerWithTrafficCounts) {
  const auto statistics = parse_statistics(R"({"name":"x","ts":1,"brokers":{
      "a:1/1":{"name":"a","nodeid":1,"state":"UP","rtt":{"min":1,"cnt":5,"p99":1500},"throttle":{"max":0,"cnt":5}},
      "b:1/2":{"name":"b","nodeid":2,"state":"UP","rtt":{"cnt":9,"p99":2500},"throttle":{"max":40,"cnt":2}},
      "c:1/3":{"name":"c","nodeid":3,"state":"DOWN","rtt":{"cnt":0,"p99":9999},"throttle":{"max":99,"cnt":0}},
      "a:1/bootstrap":{"name":"a","nodeid":-1,"state":"UP","rtt":{"cnt":1,"p99":777777}}},
      "topics":{"t":{"broken)");
  ASSERT_TRUE(statistics.has_value());
  EXPECT_EQ(statistics->brokers.brokers_known, 3);
  EXPECT_EQ(statistics->brokers.brokers_up, 2);
  EXPECT_EQ(statistics->brokers.rtt_p99_ms, 2.5);
  EXPECT_EQ(statistics->brokers.throttle_ms, 40);
  EXPECT_THAT(statistics->up, ElementsAre("a:1/1", "b:1/2", "a:1/bootstrap"));
}

TEST(Statistics, NoTrafficIsNoLatency) {
  const auto statistics =
      parse_statistics(R"({"brokers":{"a:1/1":{"nodeid":1,"state":"UP","rtt":{"cnt":0,"p99":0}}}})");
  ASSERT_TRUE(statistics.has_value());
  EXPECT_FALSE(statistics->brokers.rtt_p99_ms.has_value());
}

TEST(Statistics, AnythingElseIsRefused) {
  EXPECT_FALSE(parse_statistics("").has_value());
  EXPECT_FALSE(parse_statistics("not json").has_value());
  EXPECT_FALSE(parse_statistics(R"({"topics":{}})").has_value());
}

}  // namespace
}  // namespace spillway::kafka
