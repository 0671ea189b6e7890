#include "sim/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/ideal.h"
#include "sim/plan.h"
#include "sim/report_html.h"
#include "sim/result_text.h"
#include "sim/runner.h"
#include "sim/scenario_yaml.h"
#include "sim/signal_pipeline.h"
#include "sim/yaml_reader.h"

namespace spillway::sim {
namespace {

using testing::HasSubstr;

Scenario scenario(const std::string& yaml) { return parse_scenarios(yaml, "test.yaml").value().front(); }

Scenario small() { return scenario("{name: small, backlog: 20000}"); }

RunResult run(const Scenario& s, const std::string& law = "adaptive", std::uint64_t seed = 1) {
  return simulate(s, {.law = law, .seed = seed, .keep_seconds = true}).value();
}

TEST(Simulation, TheSameSeedGivesTheSameRun) {
  const RunResult a = run(small());
  const RunResult b = run(small());
  EXPECT_EQ(a.clear_s, b.clear_s);
  EXPECT_EQ(a.live_p99_s, b.live_p99_s);
  EXPECT_NE(a.clear_s, run(small(), "adaptive", 2).clear_s);
}

TEST(Simulation, NeverClearsFasterThanTheIdealByMoreThanNoise) {
  for (const char* law : {"adaptive", "aimd", "gradient", "oracle"}) EXPECT_GT(*run(small(), law).ratio(), 0.99) << law;
}

TEST(Simulation, UnlimitedOverloadsDownstream) {
  const RunResult r = run(small(), "unlimited");
  EXPECT_GT(r.worst_p99_s, 2);
  EXPECT_GT(r.seconds_over, 5);
}

TEST(Simulation, FixedSendsAtItsRate) {
  const RunResult r = run(scenario("{backlog: 20000, governor: {fixed_rate: 1400}}"), "fixed");
  EXPECT_NEAR(*r.clear_s, 100, 4);
}

TEST(Simulation, AScenarioThatCanNeverClearIsAnError) {
  const auto r = simulate(scenario("{live: {rate: 2500}}"), {});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().error_class, base::ErrorClass::kMisconfigured);
  EXPECT_THAT(r.error().message, HasSubstr("stays below live traffic"));
}

TEST(Simulation, ALawThatIsNotThereIsAnError) { EXPECT_FALSE(simulate(small(), {.law = "pid"})); }

TEST(Simulation, ARestartedRelayStartsFromTheCapacityItHadConfirmed) {
  const RunResult r = run(scenario("{backlog: 60000, relay_restarts: [{at: 30s}]}"));
  EXPECT_LT(*r.ratio(), 1.2);
}

TEST(Simulation, ForeignLiveTrafficIsLeftItsShare) {
  const RunResult r = run(scenario("{backlog: 40000, live: {rate: 800, foreign_rate: 400}}"));
  EXPECT_LT(*r.ratio(), 1.15);
  EXPECT_LT(r.seconds_over, 12) << "none of it was known at the start";
}

class SignalFault : public testing::TestWithParam<const char*> {};

TEST_P(SignalFault, NeverRaisesTheBacklogsBudgetAndTheRunRecovers) {
  const RunResult r = run(scenario(std::string("{backlog: 60000, signal: {") + GetParam() + "}}"));
  EXPECT_LE(r.max_blind_rise, 1e-6);
  EXPECT_TRUE(r.recovered);
  EXPECT_LT(r.worst_p99_s, 1.5);
}

INSTANTIATE_TEST_SUITE_P(All, SignalFault,
                         testing::Values("missing: [{from: 20s, for: 60s}]", "frozen: [{from: 20s, for: 60s}]",
                                         "not_a_number: [{from: 20s, for: 60s}]", "wrong_unit: [{from: 20s, for: 60s}]",
                                         "targets: 2, target_silent: [{from: 20s, for: 60s}]", "loss: 30%",
                                         "noise: 10%", "window: 5s", "late: 30%, late_by: 5s"));

TEST(Ideal, IsBacklogOverSurplus) { EXPECT_DOUBLE_EQ(*ideal_seconds(scenario("{name: S1}")), 1250); }

TEST(Ideal, NegativePartsCount) {
  const auto s = scenario("{backlog: 80000, changes: [{at: 10s, servers: 50}, {at: 20s, servers: 100}]}");
  EXPECT_DOUBLE_EQ(*ideal_seconds(s), 100 + 10 + 2.5);
}

TEST(Ideal, ALongPauseHasNoCapacity) {
  EXPECT_DOUBLE_EQ(*ideal_seconds(scenario("{backlog: 80000, pauses: [{from: 10s, for: 10s}]}")), 100 + 10 + 15);
}

TEST(Plan, DoesTheArithmetic) {
  const Plan plan = make_plan({.backlog = 1'000'000, .capacity = 2000, .live = 1200});
  EXPECT_DOUBLE_EQ(*plan.clear_s, 1250);
  EXPECT_DOUBLE_EQ(*plan.clear_dropped_s, 5000);
  EXPECT_DOUBLE_EQ(*plan.clear_short_drop_s, 300 + (1'000'000 - 60'000) / 800.0);
}

TEST(Plan, SaysNeverWhereTheBacklogGrows) {
  const Plan plan = make_plan({.backlog = 1000, .capacity = 1000, .live = 1000});
  EXPECT_EQ(plan.clear_s, std::nullopt);
  EXPECT_EQ(plan.clear_dropped_s, std::nullopt);
  EXPECT_EQ(plan.clear_short_drop_s, std::nullopt);
}

TEST(Plan, ItsScenarioHasTheCapacityThatWasAsked) {
  EXPECT_NEAR(scenario_of({.backlog = 1, .capacity = 333, .live = 0}, 0.4).capacity(0), 333, 1e-9);
}

TEST(ScenarioYaml, ReadsTimesWithUnits) {
  EXPECT_DOUBLE_EQ(parse_seconds("250ms"), 0.25);
  EXPECT_DOUBLE_EQ(parse_seconds("5m"), 300);
  EXPECT_LT(parse_seconds("5"), 0);
  EXPECT_LT(parse_seconds("-5s"), 0);
  EXPECT_LT(parse_seconds("soon"), 0);
}

TEST(ScenarioYaml, ListsEveryFaultWithItsPlace) {
  const auto r = parse_scenarios("backlog: -1\nlive:\n  rat: 5\npath: {delay: 3}\n", "mine.yaml");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("mine.yaml:1:10: backlog must be a number"));
  EXPECT_THAT(r.error().message,
              HasSubstr("mine.yaml:3:3: live.rat is not a key of a scenario; did you mean live.rate?"));
  EXPECT_THAT(r.error().message, HasSubstr("mine.yaml:4:15: path.delay must be a time with its unit"));
}

TEST(ScenarioYaml, RefusesACeilingOfZeroAndCrossedBounds) {
  EXPECT_FALSE(parse_scenarios("signal: {latency_ceiling: 0s}", "a"));
  EXPECT_FALSE(parse_scenarios("governor: {min: 10, max: 5}", "a"));
}

TEST(ScenarioYaml, TextThatIsNoYamlIsAnErrorWithItsPlace) {
  const auto r = parse_scenarios("a: [1, 2", "broken.yaml");
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("broken.yaml: line"));
}

TEST(ScenarioYaml, VariantsLieOverTheRest) {
  const auto all = parse_scenarios(
      "{name: X, client: {live_retries: 1, timeout: 3s}, variants: {a: {}, b: {client: {live_retries: 2}}}}", "x");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[1].name, "X-b");
  EXPECT_EQ((*all)[1].client.live_retries, 2);
  EXPECT_DOUBLE_EQ((*all)[1].client.timeout_s, 3);
}

TEST(ScenarioYaml, AssignmentsLieOverEverything) {
  const auto s = find_scenarios("S11-low-d5", {"lanes.hold_live=never", "live.rate=900"});
  ASSERT_TRUE(s) << s.error().message;
  ASSERT_EQ(s->size(), 1u);
  EXPECT_FALSE(s->front().governor.hold_live);
  EXPECT_DOUBLE_EQ(s->front().live.rate, 900);
  EXPECT_EQ(s->front().downstream.servers, 100);
}

TEST(ScenarioYaml, AScenarioWithVariantsMeansAllOfThem) {
  EXPECT_EQ(find_scenarios("S9", {})->size(), 3u);
  EXPECT_EQ(find_scenarios("S11", {})->size(), 8u);
  EXPECT_EQ(find_scenarios("S1", {})->size(), 1u) << "not S10 to S19";
}

TEST(ScenarioYaml, AnUnknownNameListsTheScenarios) {
  EXPECT_THAT(find_scenarios("S99", {}).error().message, HasSubstr("S9-d1 S9-d5 S9-long"));
}

TEST(Pipeline, APercentileComesFromTheWindowAlone) {
  const Scenario s = small();
  Random random(1);
  SignalPipeline pipeline(s, random);
  for (int i = 1; i <= 100; ++i) pipeline.record({.at = 0.5, .latency_s = i / 100.0, .good = i <= 90});
  pipeline.close_window(1, 7);
  const auto samples = pipeline.due(1);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_NEAR(*samples[0].p99_s, 1.0, 1e-6);
  EXPECT_DOUBLE_EQ(samples[0].good, 90);
  EXPECT_DOUBLE_EQ(samples[0].lag_events, 7);
}

TEST(Pipeline, DelaysSamples) {
  const Scenario s = scenario("{signal: {delay: 2s}}");
  Random random(1);
  SignalPipeline pipeline(s, random);
  pipeline.close_window(1, 0);
  EXPECT_TRUE(pipeline.due(2.75).empty());
  EXPECT_EQ(pipeline.due(3).size(), 1u);
}

TEST(Results, JsonHasTheNamesOfTheContract) {
  Batch batch;
  batch.scenarios = {small()};
  batch.laws = {"adaptive", "fixed"};
  batch.seeds = 2;
  const auto results = run_batch(batch, [](std::size_t, std::size_t) {});
  ASSERT_TRUE(results);
  ASSERT_EQ(results->size(), 4u);
  const auto parsed = nlohmann::json::parse(to_json(*results));
  for (const char* name : {"scenario", "governor", "seed", "clear_seconds", "ideal_seconds", "clear_over_ideal",
                           "seconds_over_ceiling", "oracle_seconds_over_ceiling", "longest_hold_s", "worst_p99_ms",
                           "live_p99_ms", "live_p99_alone_ms", "attempts_per_event", "recovered", "wall_seconds"}) {
    EXPECT_TRUE(parsed["runs"][0].contains(name)) << name;
    EXPECT_FALSE(parsed["runs"][0][name].is_null()) << name;
  }
  EXPECT_EQ(parsed["runs"][1]["seed"], 2);
  EXPECT_EQ(parsed["runs"][2]["governor"], "fixed");
}

TEST(Results, ThePageNeedsNoNetwork) {
  const std::string page = to_html(std::vector{run(small())});
  EXPECT_THAT(page, HasSubstr("uPlot"));
  EXPECT_THAT(page, HasSubstr("small, adaptive, seed 1"));
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
}

TEST(Summary, IsMedianAndWorst) {
  std::vector<RunResult> runs(3);
  for (std::size_t i = 0; i < 3; ++i) {
    runs[i].scenario = "x";
    runs[i].law = "adaptive";
    runs[i].recovered = i < 2;
    if (i < 2) runs[i].clear_s = 100.0 + 10.0 * static_cast<double>(i);
    runs[i].ideal_s = 100;
    runs[i].seconds_over = static_cast<double>(i);
  }
  const Summary s = summarise(runs).at(0);
  EXPECT_EQ(s.recovered, 2);
  EXPECT_NEAR(s.ratio->median, 1.05, 1e-9);
  EXPECT_NEAR(s.ratio->worst, 1.1, 1e-9);
  EXPECT_DOUBLE_EQ(s.seconds_over.median, 1);
  EXPECT_EQ(
      missed(s, {.clear_over_ideal = 1.04, .seconds_over = 0, .seconds_over_oracle = {}, .seconds_over_share = {}})
          .size(),
      3u);
}

}  // namespace
}  // namespace spillway::sim
