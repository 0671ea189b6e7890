#include <gtest/gtest.h>

#include "recovery/recovery_rig.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

constexpr double kWatchedS = 60;
constexpr double kStartS = 10;  // left out by the report

double live_p99_with(double backlog) {
  sim::Scenario scenario = scenario_file("drop.yaml");
  scenario.name = backlog > 0 ? "bank-live-beside-a-million" : "bank-live-alone";
  scenario.backlog = backlog;
  scenario.changes.clear();
  RecoveryRig rig({.scenario = scenario, .on_backlog_keys = 0.02});
  rig.run_for(kWatchedS);
  const RecoveryReport report = rig.finish(0s);
  EXPECT_EQ(report.inversions, 0);
  EXPECT_GT(static_cast<double>(report.live_measured), 0.8 * scenario.live.rate * (kWatchedS - kStartS))
      << "live did not come through";
  return report.live_p99_s;
}

TEST(LiveLatency, DoesNotDependOnTheBacklog) {
  const double alone = live_p99_with(0);
  const double beside = live_p99_with(1'000'000);
  ASSERT_GT(alone, 0);
  EXPECT_LE(beside, 1.3 * alone) << beside * 1e3 << " ms against " << alone * 1e3 << " ms";
}

}  // namespace
}  // namespace spillway::testing
