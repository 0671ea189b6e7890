#include <gtest/gtest.h>

#include "spillway/resilience/retry_budget.h"

namespace spillway::resilience {
namespace {

int withdrawals(RetryBudget& budget) {
  int granted = 0;
  while (budget.withdraw()) ++granted;
  return granted;
}

void deposit(RetryBudget& budget, int successes) {
  for (int i = 0; i < successes; ++i) budget.deposit();
}

TEST(ResilienceCase, S31_StartsHalfFullAndRefusesBelowOne) {
  RetryBudget budget({.capacity = 10, .ratio = 0.1});
  EXPECT_EQ(budget.balance(), 5000);
  EXPECT_EQ(withdrawals(budget), 5);
  EXPECT_EQ(budget.balance(), 0);
  EXPECT_EQ(budget.refused(), 1u);
}

TEST(ResilienceCase, S32_TenSuccessesEarnOneRetryAtATenth) {
  RetryBudget budget({.capacity = 10, .ratio = 0.1});
  withdrawals(budget);
  deposit(budget, 9);
  EXPECT_FALSE(budget.withdraw());
  EXPECT_EQ(budget.balance(), 900);
  deposit(budget, 1);
  EXPECT_TRUE(budget.withdraw());
  EXPECT_EQ(budget.balance(), 0);
}

TEST(ResilienceCase, S33_ThousandthsDoNotDrift) {
  RetryBudget budget({.capacity = 10, .ratio = 0.001});
  withdrawals(budget);
  deposit(budget, 999);
  EXPECT_FALSE(budget.withdraw());
  deposit(budget, 1);
  EXPECT_EQ(withdrawals(budget), 1);
}

TEST(ResilienceCase, S34_AMillionSuccessesFillItNoFurtherThanItsCapacity) {
  RetryBudget budget({.capacity = 10, .ratio = 0.1});
  deposit(budget, 1'000'000);
  EXPECT_EQ(budget.balance(), 10'000);
  EXPECT_EQ(withdrawals(budget), 10);
}

TEST(ResilienceCase, S35_ADrainedDependencyLeavesOthersAlone) {
  RetryBudgets budgets({.capacity = 10, .ratio = 0.1});
  withdrawals(budgets.of("a"));
  EXPECT_EQ(budgets.of("a").balance(), 0);
  EXPECT_EQ(budgets.of("b").balance(), 5000);
  EXPECT_EQ(&budgets.of("a"), &budgets.of("a"));
}

}  // namespace
}  // namespace spillway::resilience
