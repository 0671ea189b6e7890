// A collapse that feeds itself: the bank stops for twenty seconds, every caller gives up and tries again, and what
// fails for good comes back from a retry topic half a minute later. From outside there is no way out; only whoever
// holds the live events back ends it.
#include <gtest/gtest.h>

#include "recovery/recovery_rig.h"

namespace spillway::testing {
namespace {

constexpr double kWatchedS = 90;  // after the bank's return
constexpr double kWithinS = 60;

RigOptions collapse() {
  RigOptions options{.scenario = scenario_file("collapse.yaml"), .retry_topic = true};
  // Callers that protect the bank by being few would hide the trouble.
  options.in_hand = 100'000;
  return options;
}

std::optional<double> recovery_after_return(const RigOptions& options, const RecoveryReport& report) {
  const double back = options.scenario.pauses.at(0).until;
  const double ceiling = options.scenario.governor.signals.front().latency_ceiling_s;
  const auto healthy = report.healthy_again(back, ceiling, options.scenario.live.rate);
  if (!healthy) return std::nullopt;
  return *healthy - back;
}

TEST(Collapse, EndsWithinAMinuteOfTheBanksReturn) {
  const RigOptions options = collapse();
  RecoveryRig rig(options);
  rig.run_for(options.scenario.pauses.at(0).until + kWatchedS);
  const RecoveryReport report = rig.finish();
  const auto after = recovery_after_return(options, report);
  ASSERT_TRUE(after) << rig.relay().log();
  EXPECT_LE(*after, kWithinS);
  EXPECT_EQ(report.lost, 0);
  EXPECT_EQ(report.inversions, 0);
  EXPECT_GT(report.longest_hold_s, 5) << "live was not held, so this was no collapse";
}

TEST(Collapse, NeverEndsWhereLiveIsNotHeld) {
  RigOptions options = collapse();
  options.scenario.governor.hold_live = false;
  RecoveryRig rig(options);
  rig.run_for(options.scenario.pauses.at(0).until + kWatchedS);
  const RecoveryReport report = rig.finish();
  EXPECT_EQ(recovery_after_return(options, report), std::nullopt);
  // The backlog stands still, and is not lost by that.
  EXPECT_LE(static_cast<double>(report.lost), report.last_backlog().value_or(0));
  EXPECT_EQ(report.inversions, 0);
}

}  // namespace
}  // namespace spillway::testing
