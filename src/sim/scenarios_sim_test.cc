// One seed of every scenario under the default law against its target, and the baseline's known trouble.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/scenario_yaml.h"
#include "sim/simulation.h"
#include "sim/summary.h"

namespace spillway::sim {
namespace {

RunResult run(const Scenario& scenario, const std::string& law) {
  auto result = simulate(scenario, {.law = law, .seed = 1});
  EXPECT_TRUE(result) << result.error().message;
  return *result;
}

Scenario named(const std::string& name, const std::vector<std::string>& assignments = {}) {
  return find_scenarios(name, assignments).value().front();
}

class EveryScenario : public testing::TestWithParam<std::string> {};

TEST_P(EveryScenario, KeepsItsTargetUnderTheAdaptiveLaw) {
  const Scenario scenario = named(GetParam());
  std::vector<RunResult> runs{run(scenario, "adaptive")};
  if (scenario.target.seconds_over_oracle) runs[0].oracle_seconds_over = run(scenario, "oracle").seconds_over;
  const Summary summary = summarise(runs).at(0);
  for (const std::string& sentence : missed(summary, scenario.target)) {
    ADD_FAILURE() << sentence << "; again: spillway simulate " << scenario.name << " --seed 1";
  }
  EXPECT_LE(runs[0].attempts_per_event, scenario.downstream.bucket ? 1.15 : 1.05);
  EXPECT_LE(runs[0].max_blind_rise, 1e-6);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Scenario& s : builtin_scenarios()) all.push_back(s.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Builtin, EveryScenario, testing::ValuesIn(names()), [](const auto& entry) {
  std::string name = entry.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Scenarios, LiveWaitsAtMostSeventyFiveSecondsAfterACollapse) {
  for (const char* name : {"S11-d1-r1", "S11-d3-r1", "S11-d5-r1", "S11-d5-r3", "S11-low-d1", "S11-low-d5"}) {
    EXPECT_LE(run(named(name), "adaptive").longest_hold_s, 75) << name;
  }
}

TEST(Scenarios, ADropUnderContentionHoldsLiveNoLongerThanItsCollapse) {
  for (const char* name : {"S18-d1-r1", "S18-d3-r3", "S18-d5-r3"}) {
    const RunResult r = run(named(name), "adaptive");
    EXPECT_LE(r.longest_hold_s, 40) << name;
    EXPECT_LE(*r.ratio(), 2.2) << name;
  }
}

TEST(Scenarios, ADropUnderContentionIsClearedMuchFasterThanByAimd) {
  const Scenario scenario = named("S18-d1-r1");
  EXPECT_GE(*run(scenario, "aimd").ratio() / *run(scenario, "adaptive").ratio(), 1.8);
}

TEST(Scenarios, AimdAsPublishedShowsItsTroubleInS1) {
  const RunResult aimd = run(named("S1"), "aimd");
  EXPECT_GE(*aimd.ratio(), 2.0);
  EXPECT_LE(*aimd.ratio(), 3.3);
  EXPECT_GT(aimd.seconds_over, 100);
}

TEST(Scenarios, WithoutTheBrakeACollapseNeverEnds) {
  // A smaller backlog gives up sooner; the collapse is the same.
  const std::vector<std::string> without = {"lanes.hold_live=never", "backlog=500000"};
  const std::vector<std::string> with = {"backlog=500000"};
  for (const char* name : {"S9-d1", "S9-d5", "S11-d5-r1", "S11-d5-r3"}) {
    EXPECT_FALSE(run(named(name, without), "adaptive").recovered) << name;
    EXPECT_TRUE(run(named(name, with), "adaptive").recovered) << name;
  }
}

TEST(Scenarios, AimdNeverRecoversFromTheCollapseEither) {
  EXPECT_FALSE(run(named("S9-d1", {"backlog=500000"}), "aimd").recovered);
}

}  // namespace
}  // namespace spillway::sim
