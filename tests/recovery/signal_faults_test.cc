#include <gtest/gtest.h>

#include "recovery/blind.h"
#include "recovery/recovery_rig.h"

namespace spillway::testing {
namespace {

constexpr sim::Span kHtml{390, 450};

TEST(SignalFaults, NeverRaiseTheRate) {
  const sim::Scenario scenario = scenario_file("signal_faults.yaml");
  RecoveryRig rig({.scenario = scenario, .targets = scenario.signal.targets});
  rig.at(kHtml.from, [&] { rig.spoil_signal(bank::EndpointFault::kHtml); });
  rig.at(kHtml.until, [&] { rig.spoil_signal(bank::EndpointFault::kNone); });
  rig.run_until_clear(1'200);
  const RecoveryReport report = rig.finish();

  EXPECT_EQ(report.lost, 0);
  EXPECT_EQ(report.inversions, 0);
  EXPECT_TRUE(report.clear_s) << rig.relay().log();
  const std::vector<std::pair<std::string, sim::Span>> faults = {{"missing", scenario.signal.missing.at(0)},
                                                                 {"frozen", scenario.signal.frozen.at(0)},
                                                                 {"not a number", scenario.signal.not_a_number.at(0)},
                                                                 {"a page for people", kHtml},
                                                                 {"half", scenario.signal.target_silent.at(0)}};
  for (const auto& [fault, span] : faults) {
    EXPECT_TRUE(!report.clear_s || *report.clear_s > span.until) << fault << " began when all was done";
    expect_no_rise(report, fault, span.from, span.until);
    expect_return(report, fault, span.from, span.until);
  }
}

}  // namespace
}  // namespace spillway::testing
