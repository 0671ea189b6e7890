// The same as in full, in half a minute each: too short for tight figures, long enough to see what is broken.
#include <gtest/gtest.h>

#include "recovery/blind.h"
#include "recovery/prediction.h"
#include "recovery/recovery_rig.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

TEST(ShortRecovery, ClearsTheBacklogUnderTheCeiling) {
  const sim::Scenario scenario = scenario_file("drop_short.yaml");
  const Prediction predicted = predict(scenario);
  RecoveryRig rig({.scenario = scenario, .live_age = 1s});
  rig.run_until_clear(60);
  const RecoveryReport report = rig.finish(20s);
  EXPECT_EQ(report.lost, 0);
  EXPECT_EQ(report.inversions, 0);
  EXPECT_EQ(report.consumer.given_up, 0);
  EXPECT_LE(report.seconds_over, predicted.oracle_seconds_over + *scenario.target.seconds_over_oracle);
  ASSERT_TRUE(report.clear_s) << rig.relay().log();
  EXPECT_LE(*report.clear_s, 1.5 * predicted.clear_s);
}

TEST(ShortRecovery, IsNotQuickerWhileItCannotSee) {
  const sim::Scenario scenario = scenario_file("signal_loss_short.yaml");
  RecoveryRig rig({.scenario = scenario, .live_age = 1s});
  rig.run_until_clear(60);
  const RecoveryReport report = rig.finish(20s);
  EXPECT_EQ(report.lost, 0);
  EXPECT_EQ(report.inversions, 0);
  EXPECT_TRUE(report.clear_s) << rig.relay().log();
  const sim::Span& blind = scenario.signal.missing.at(0);
  expect_no_rise(report, "missing", blind.from, blind.until);
}

}  // namespace
}  // namespace spillway::testing
