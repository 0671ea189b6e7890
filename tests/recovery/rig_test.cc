// The rig itself, before a bank that bears everything: what it counts must be what happened.
#include <gtest/gtest.h>

#include "recovery/recovery_rig.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

TEST(RecoveryRig, CountsEveryEventOnceWhereTheBankBearsAll) {
  sim::Scenario scenario = scenario_file("drop_short.yaml");
  scenario.name = "bank-bears-all";
  scenario.changes.clear();
  scenario.backlog = 2'000;
  scenario.live.rate = 100;
  scenario.downstream.servers = 200;
  scenario.downstream.service_mean_s = 0.005;
  RecoveryRig rig({.scenario = scenario, .live_age = 1s});
  bool played = false;
  rig.at(0.5, [&] { played = true; });
  rig.run_for(8);
  const RecoveryReport report = rig.finish(30s);
  EXPECT_TRUE(played);
  ASSERT_TRUE(report.clear_s) << rig.relay().log();
  EXPECT_GT(*report.clear_s, 0);
  EXPECT_EQ(report.lost, 0);
  EXPECT_EQ(report.inversions, 0);
  EXPECT_EQ(report.duplicates, 0);
  EXPECT_DOUBLE_EQ(report.attempts_per_event, 1);
  EXPECT_EQ(report.consumer.done, report.consumer.unique);
  EXPECT_GE(report.consumer.unique, 2'000);
  ASSERT_FALSE(report.statuses.empty());
  EXPECT_TRUE(report.statuses.back().backlog) << "the relay's status was not read";
}

}  // namespace
}  // namespace spillway::testing
