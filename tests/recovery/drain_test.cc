#include <gtest/gtest.h>

#include <iostream>

#include "recovery/prediction.h"
#include "recovery/recovery_rig.h"

namespace spillway::testing {
namespace {

TEST(Drain, ClearsTheBacklogNearTheIdealAndAsPredicted) {
  const sim::Scenario scenario = scenario_file("drop.yaml");
  const Prediction predicted = predict(scenario);
  std::cout << "predicted: clear " << predicted.clear_s << " s, the oracle " << predicted.oracle_seconds_over
            << " s over the ceiling" << std::endl;

  RecoveryRig rig({.scenario = scenario});
  rig.run_until_clear(600);
  const RecoveryReport report = rig.finish();

  EXPECT_EQ(report.lost, 0);
  EXPECT_EQ(report.inversions, 0);
  EXPECT_EQ(report.consumer.given_up, 0);
  EXPECT_LE(report.seconds_over, predicted.oracle_seconds_over + *scenario.target.seconds_over_oracle);
  ASSERT_TRUE(report.clear_s) << rig.relay().log();
  EXPECT_LE(*report.ratio(), scenario.target.clear_over_ideal);
  EXPECT_NEAR(*report.clear_s, predicted.clear_s, 0.1 * predicted.clear_s);
}

}  // namespace
}  // namespace spillway::testing
