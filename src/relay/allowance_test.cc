#include "relay/allowance.h"

#include <gtest/gtest.h>

#include <limits>

#include "relay/start_for_test.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;

governor::Decision decision(double total, double backlog) {
  governor::Decision made;
  made.total_rate = total;
  made.backlog_budget = backlog;
  return made;
}

// As many as may leave within a second, looked at every 10 ms.
int within_a_second(Allowance& allowance, Flow flow, bool again = false) {
  int left = 0;
  for (base::Instant now = kStart; now <= kStart + 1s; now += 10ms) {
    allowance.refill(now);
    for (; left < 1'000 && allowance.may_go(flow, again, 0); ++left) allowance.went(flow, again);
  }
  return left;
}

TEST(Allowance, IsWithoutLimitUntilSomethingIsDecided) {
  Allowance allowance;
  EXPECT_FALSE(allowance.limited());
  EXPECT_EQ(within_a_second(allowance, Flow::kBacklog), 1'000);
  EXPECT_EQ(allowance.backlog_page(5'000), 5'000u);
}

TEST(Allowance, HoldsBacklogAndPromotedRowsToTheirBudgetAndLiveToNone) {
  for (const Flow flow : {Flow::kBacklog, Flow::kPromoted}) {
    Allowance allowance;
    allowance.apply(decision(50, 50));
    EXPECT_NEAR(within_a_second(allowance, flow), 50, 5);
    EXPECT_EQ(within_a_second(allowance, Flow::kLive), 1'000);
  }
}

TEST(Allowance, HoldsLiveToItsCap) {
  Allowance allowance;
  governor::Decision held = decision(std::numeric_limits<double>::infinity(), 0);
  held.live_cap = 0;
  allowance.apply(held);
  EXPECT_TRUE(allowance.limited());
  EXPECT_TRUE(allowance.live_is_held());
  EXPECT_EQ(within_a_second(allowance, Flow::kLive), 0);
}

TEST(Allowance, WhatCameBackGoesOnLivesShareWhereBacklogHasNone) {
  Allowance allowance;
  allowance.apply(decision(50, 0));
  EXPECT_EQ(within_a_second(allowance, Flow::kBacklog), 0);
  EXPECT_GT(within_a_second(allowance, Flow::kBacklog, true), 0);
}

TEST(Allowance, TheWindowHoldsBacklogAloneAndInclusive) {
  Allowance allowance;
  governor::Decision narrow = decision(1'000, 1'000);
  narrow.in_flight_window = 20;
  allowance.apply(narrow);
  allowance.refill(kStart);
  allowance.refill(kStart + 50ms);
  EXPECT_TRUE(allowance.may_go(Flow::kBacklog, false, 19));
  EXPECT_FALSE(allowance.may_go(Flow::kBacklog, false, 20));
  EXPECT_TRUE(allowance.may_go(Flow::kLive, false, 20));
}

TEST(Allowance, BacklogIsReadByTheSecondWithinBounds) {
  Allowance allowance;
  const auto page_at = [&allowance](double rate) {
    allowance.apply(decision(rate, rate));
    return allowance.backlog_page(5'000);
  };
  EXPECT_EQ(page_at(0), 0u);
  EXPECT_EQ(page_at(1), 100u);
  EXPECT_EQ(page_at(700), 700u);
  EXPECT_EQ(page_at(90'000), 5'000u);
}

}  // namespace
}  // namespace spillway::relay
