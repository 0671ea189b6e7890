#include "kafka/broker_outages.h"

#include <gtest/gtest.h>

namespace spillway::kafka {
namespace {

constexpr const char* kRefusedConnection =
    "[thrd:k:9092/bootstrap]: k:9092/bootstrap: Connect to ipv4#10.0.0.1:9092 failed: Connection refused (after 0ms in "
    "state CONNECT)";

TEST(BrokerOutages, AnOutageIsSaidOnceAndItsEndOnce) {
  BrokerOutages outages;
  ASSERT_EQ(broker_line(3, "FAIL", kRefusedConnection), BrokerLine::kFailure);
  const auto change = outages.failed(kRefusedConnection);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->broker, "k:9092");
  EXPECT_EQ(change->now, BrokerState::kAway);
  EXPECT_EQ(change->reason, "Connect to ipv4#10.0.0.1:9092 failed: Connection refused (after 0ms in state CONNECT)");
  EXPECT_FALSE(outages.failed(kRefusedConnection).has_value());
  EXPECT_FALSE(outages.failed("[thrd:k:9092/1]: k:9092/1: Connection setup timed out").has_value())
      << "the same broker, now that its id is known, and still away";
  const auto back = outages.up({"j:9092/2", "k:9092/1"});
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].broker, "k:9092");
  EXPECT_EQ(back[0].now, BrokerState::kUp);
  EXPECT_TRUE(outages.up({"k:9092/1"}).empty());
  EXPECT_TRUE(outages.failed(kRefusedConnection).has_value()) << "the next outage";
}

TEST(BrokerOutages, EachBrokerHasItsOwn) {
  BrokerOutages outages;
  EXPECT_TRUE(outages.failed("a:1/1: Disconnected (after 5000ms in state UP)").has_value());
  EXPECT_TRUE(outages.failed("b:1/2: Disconnected (after 5000ms in state UP)").has_value());
  EXPECT_EQ(outages.up({"a:1/1", "c:1/3"}).size(), 1U);
  EXPECT_FALSE(outages.failed("b:1/2: Disconnected (after 1ms in state UP)").has_value());
}

TEST(BrokerOutages, ABrokerThatRefusesUsIsNotHiddenByItsOutage) {
  constexpr const char* kWrongPassword =
      "sasl_ssl://k:9093/bootstrap: SASL authentication error: Authentication failed (after 9ms in state AUTH_REQ)";
  BrokerOutages outages;
  EXPECT_TRUE(outages.failed("sasl_ssl://k:9093/bootstrap: Connection refused").has_value());
  const auto change = outages.failed(kWrongPassword);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->broker, "sasl_ssl://k:9093");
  EXPECT_EQ(change->now, BrokerState::kRefuses);
  EXPECT_FALSE(outages.failed(kWrongPassword).has_value());
  EXPECT_FALSE(outages.failed("sasl_ssl://k:9093/bootstrap: Connection refused").has_value());
  EXPECT_EQ(outages.up({"sasl_ssl://k:9093/1"}).size(), 1U);
}

TEST(BrokerLine, TellsAFailureFromAConnectionThatWasNotInUse) {
  EXPECT_EQ(broker_line(4, "FAIL", "a:1/1: Disconnected (after 90ms in state UP)"), BrokerLine::kFailure);
  EXPECT_EQ(broker_line(6, "FAIL", "a:1/1: Disconnected (after 90ms in state UP)"), BrokerLine::kClosed);
  EXPECT_EQ(broker_line(7, "FAIL", kRefusedConnection), BrokerLine::kNone) << "debug output that the user asked for";
  EXPECT_EQ(broker_line(3, "CONFWARN", kRefusedConnection), BrokerLine::kNone);
  EXPECT_EQ(broker_line(3, "FAIL", "no broker in this"), BrokerLine::kNone);
}

}  // namespace
}  // namespace spillway::kafka
