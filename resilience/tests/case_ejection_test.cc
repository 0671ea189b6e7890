#include <gtest/gtest.h>

#include "breaker_probe.h"
#include "spillway/resilience/outlier_ejection.h"

namespace spillway::resilience {
namespace {

using std::chrono::seconds;

void fail(OutlierEjection& hosts, std::uint32_t host, int times, Instant now) {
  for (int i = 0; i < times; ++i) hosts.record(host, Outcome::kFailure, now);
}

TEST(ResilienceCase, S42_EjectsFailingHostsOneAtATimeAndLongerEachTime) {
  OutlierEjection hosts({.endpoints = 10});
  fail(hosts, 0, 4, ms(0));
  hosts.record(0, Outcome::kSuccess, ms(0));
  fail(hosts, 0, 4, ms(0));
  EXPECT_FALSE(hosts.ejected(0, ms(0)));
  fail(hosts, 0, 1, ms(0));
  EXPECT_TRUE(hosts.ejected(0, ms(0)));
  EXPECT_TRUE(hosts.ejected(0, ms(29'999)));

  fail(hosts, 1, 5, ms(10'000));
  EXPECT_FALSE(hosts.ejected(1, ms(10'000)));
  EXPECT_FALSE(hosts.ejected(0, ms(30'000)));
  fail(hosts, 1, 1, ms(30'000));
  EXPECT_TRUE(hosts.ejected(1, ms(30'000)));
  EXPECT_FALSE(hosts.ejected(1, ms(60'000)));

  fail(hosts, 0, 5, ms(61'000));
  EXPECT_TRUE(hosts.ejected(0, ms(61'000) + seconds(60) - Duration(1)));
  EXPECT_FALSE(hosts.ejected(0, ms(121'000)));
}

TEST(OutlierEjection, NeverEjectsTheLastEndpoint) {
  OutlierEjection one({.endpoints = 1, .most_ejected_percent = 100});
  fail(one, 0, 50, ms(0));
  EXPECT_FALSE(one.ejected(0, ms(0)));

  OutlierEjection three({.endpoints = 3, .most_ejected_percent = 100});
  for (std::uint32_t host = 0; host < 3; ++host) fail(three, host, 50, ms(0));
  EXPECT_EQ(three.ejected_count(ms(0)), 2u);
}

TEST(OutlierEjection, LetsAReturnedEndpointBackSlowly) {
  OutlierEjection hosts({.endpoints = 2, .readmission = seconds(10)});
  fail(hosts, 0, 5, ms(0));
  EXPECT_EQ(hosts.weight(0, ms(0)), 0.0);
  for (const double u : {0.0, 0.5, 0.99}) EXPECT_EQ(hosts.pick(u, ms(0)), 1u);
  EXPECT_DOUBLE_EQ(hosts.weight(0, ms(30'000)), 0.1);
  EXPECT_DOUBLE_EQ(hosts.weight(0, ms(35'000)), 0.55);
  EXPECT_EQ(hosts.weight(0, ms(40'000)), 1.0);
  EXPECT_EQ(hosts.pick(0.0, ms(30'000)), 0u);
  EXPECT_EQ(hosts.pick(0.2, ms(30'000)), 1u);
}

TEST(OutlierEjection, LongHealthTakesAStepBackInTheLengthOfEjections) {
  OutlierEjection hosts({.endpoints = 10});
  fail(hosts, 0, 5, ms(0));
  const Instant later = ms(30'000) + std::chrono::minutes(5);
  fail(hosts, 0, 5, later);
  EXPECT_TRUE(hosts.ejected(0, later + seconds(29)));
  EXPECT_FALSE(hosts.ejected(0, later + seconds(30)));
}

TEST(OutlierEjection, TellsWhoLeftAndCameBack) {
  EventQueue events;
  OutlierEjection hosts({.endpoints = 10}, &events);
  fail(hosts, 3, 5, ms(0));
  hosts.ejected(3, ms(30'000));
  const auto told = drained(events);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].kind, EventKind::kEndpointEjected);
  EXPECT_EQ(told[1].kind, EventKind::kEndpointReturned);
  EXPECT_EQ(told[1].value, 3u);
}

}  // namespace
}  // namespace spillway::resilience
