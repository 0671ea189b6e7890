#include "spillway/resilience/hedge.h"

#include <gtest/gtest.h>

namespace spillway::resilience {
namespace {

TEST(Hedge, SendsNoMoreThanAllowedAndOnlyWhatIsIdempotent) {
  RetryBudget budget({.capacity = 10});
  Hedge hedge({.hedges = 2}, budget);
  EXPECT_EQ(hedge.try_send_another(1, false), Cause::kNotIdempotent);
  EXPECT_EQ(hedge.try_send_another(1, true), Cause::kNone);
  EXPECT_EQ(hedge.try_send_another(2, true), Cause::kNone);
  EXPECT_EQ(hedge.try_send_another(3, true), Cause::kAttemptsExhausted);
  EXPECT_EQ(budget.balance(), 3000);
  EXPECT_EQ(hedge.sent(), 2u);
}

TEST(Hedge, IsBoundedByTheBudget) {
  RetryBudget budget({.capacity = 2});
  Hedge hedge({}, budget);
  EXPECT_EQ(hedge.try_send_another(1, true), Cause::kNone);
  EXPECT_EQ(hedge.try_send_another(1, true), Cause::kBudgetExhausted);
  for (int i = 0; i < 10; ++i) hedge.succeeded();
  EXPECT_EQ(hedge.try_send_another(1, true), Cause::kNone);
}

TEST(Hedge, HoldsAFollowedDelayToTheRangeOfTheSetting) {
  RetryBudget budget;
  Hedge hedge({}, budget);
  hedge.set_delay(Duration(-5));
  EXPECT_EQ(hedge.delay(), std::chrono::microseconds(1));
  hedge.set_delay(std::chrono::hours(9));
  EXPECT_EQ(hedge.delay(), std::chrono::hours(1));
}

}  // namespace
}  // namespace spillway::resilience
