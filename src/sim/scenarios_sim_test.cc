// One seed of every scenario under the default law against its target, and the baseline's known trouble.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

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

// The longest that live may wait: after a collapse for its queue to drain, in a drop under contention no longer than
// its collapse lasts (docs/governor.md).
std::optional<double> longest_hold_s(const std::string& name) {
  if (name.starts_with("S11-")) return 75;
  if (name.starts_with("S18-")) return 40;
  return std::nullopt;
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
  if (const auto longest = longest_hold_s(scenario.name)) {
    EXPECT_LE(runs[0].longest_hold_s, *longest);
  }
  if (scenario.name.starts_with("S18-")) {
    EXPECT_LE(*runs[0].ratio(), 2.2);
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Scenario& s : builtin_scenarios()) all.push_back(s.name);
  return all;
}

std::string in_test_name(const testing::TestParamInfo<std::string>& entry) {
  std::string name = entry.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Builtin, EveryScenario, testing::ValuesIn(names()), in_test_name);

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

// A smaller backlog gives up sooner; the collapse is the same.
const std::string kSmaller = "backlog=250000";

class ACollapse : public testing::TestWithParam<std::string> {};

TEST_P(ACollapse, NeverEndsWithoutTheBrake) {
  EXPECT_FALSE(run(named(GetParam(), {"lanes.hold_live=never", kSmaller}), "adaptive").recovered);
  EXPECT_TRUE(run(named(GetParam(), {kSmaller}), "adaptive").recovered);
}

INSTANTIATE_TEST_SUITE_P(Builtin, ACollapse, testing::Values("S9-d1", "S9-d5", "S11-d5-r1", "S11-d5-r3"), in_test_name);

TEST(Scenarios, AimdNeverRecoversFromTheCollapseEither) {
  EXPECT_FALSE(run(named("S9-d1", {kSmaller}), "aimd").recovered);
}

}  // namespace
}  // namespace spillway::sim
