#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "cascade.h"
#include "deadline_propagation.h"
#include "metastable.h"
#include "retry_storm.h"

namespace spillway::resilience::examples {
namespace {

// With each of five seeds.
class Reproduction : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Reproduction, ::testing::Range<std::uint64_t>(1, 6));

TEST_P(Reproduction, ACascadeTakesTheHealthyPageDownUnlessGuarded) {
  const CascadeFigures bare = run_cascade(false, GetParam());
  EXPECT_GT(bare.healthy_before, 0.99);
  EXPECT_LT(bare.healthy_during, 0.10);
  const CascadeFigures guarded = run_cascade(true, GetParam());
  EXPECT_GT(guarded.healthy_during, 0.99);
  EXPECT_GT(guarded.slow_after, 0.99);
}

TEST_P(Reproduction, WithoutADeadlineMostWorkIsForCallersWhoLeft) {
  const DeadlineFigures bare = run_deadline_propagation(false, GetParam());
  EXPECT_GT(bare.wasted, 0.85);
  EXPECT_LT(bare.goodput, 15);
  const DeadlineFigures propagated = run_deadline_propagation(true, GetParam());
  EXPECT_LT(propagated.wasted, 0.001);
  EXPECT_GT(propagated.goodput, 95);
}

TEST_P(Reproduction, ABudgetKeepsAttemptsNearRequests) {
  const RetryStormFigures bare = run_retry_storm(false, GetParam());
  EXPECT_GT(bare.outage, 3.8);
  const RetryStormFigures budgeted = run_retry_storm(true, GetParam());
  EXPECT_LT(budgeted.outage, 1.1);
  EXPECT_NEAR(budgeted.calm, bare.calm, 0.005) << "in calm times the budget is not felt";
}

TEST_P(Reproduction, ASpikeOutlastsItselfUnlessLoadIsShed) {
  const MetastableFigures bare = run_metastable(false, GetParam());
  EXPECT_GT(bare.before, 75);
  EXPECT_LT(bare.after, 5);
  const MetastableFigures shedding = run_metastable(true, GetParam());
  EXPECT_GT(shedding.spike, 75);
  EXPECT_GT(shedding.after, 75);
}

TEST(Reproductions, AreInTheReadmeWithTheirFigures) {
  std::ifstream file(EXAMPLES_DIR "/README.md");
  const std::string readme((std::istreambuf_iterator<char>(file)), {});
  for (const std::string& table : {cascade_table(), deadline_table(), retry_storm_table(), metastable_table()}) {
    EXPECT_NE(readme.find(table), std::string::npos) << table;
  }
}

}  // namespace
}  // namespace spillway::resilience::examples
