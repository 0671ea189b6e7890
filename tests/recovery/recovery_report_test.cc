#include "recovery/recovery_report.h"

#include <gtest/gtest.h>

namespace spillway::testing {
namespace {

RecoveryReport steady(std::size_t seconds, std::int64_t live, std::int64_t backlog) {
  RecoveryReport report;
  report.seconds.assign(seconds, SecondSeen{.sent_live = live,
                                            .sent_backlog = backlog,
                                            .done = live + backlog,
                                            .late = 0,
                                            .p99_s = 0.2,
                                            .live_p99_s = 0.2});
  return report;
}

TEST(RecoveryReport, FindsTheHighestRateOfFiveSeconds) {
  RecoveryReport report = steady(30, 300, 100);
  report.seconds[12].sent_backlog = 600;
  EXPECT_DOUBLE_EQ(report.highest_backlog_rate(0, 30), 200);
  EXPECT_DOUBLE_EQ(report.highest_total_rate(0, 30), 500);
  EXPECT_DOUBLE_EQ(report.highest_backlog_rate(13, 30), 100);
  EXPECT_DOUBLE_EQ(report.highest_backlog_rate(26, 30), 0);
}

TEST(RecoveryReport, IsHealthyAgainAfterTheLastLateAnswer) {
  RecoveryReport report = steady(60, 300, 0);
  report.seconds[20].late = 1;
  report.seconds[25].live_p99_s = 0.5;
  EXPECT_EQ(report.healthy_again(15, 0.4, 300), 26);
  EXPECT_EQ(report.healthy_again(45, 0.4, 300), 45);
  EXPECT_EQ(report.healthy_again(51, 0.4, 300), std::nullopt);
}

TEST(RecoveryReport, IsNotHealthyWhereLittleIsDone) {
  const RecoveryReport report = steady(60, 200, 0);
  EXPECT_EQ(report.healthy_again(0, 0.4, 300), std::nullopt);
}

TEST(RecoveryReport, HasARatioOnlyWhereTheBacklogWasCleared) {
  RecoveryReport report;
  report.ideal_s = 100;
  EXPECT_EQ(report.ratio(), std::nullopt);
  report.clear_s = 120;
  EXPECT_DOUBLE_EQ(*report.ratio(), 1.2);
}

}  // namespace
}  // namespace spillway::testing
