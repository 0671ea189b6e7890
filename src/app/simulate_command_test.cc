#include "app/simulate_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/plan_command.h"

namespace spillway::app {
namespace {

using testing::HasSubstr;

struct Simulated {
  int status;
  std::string out;
  std::string err;
};

Simulated simulate(SimulateOptions options) {
  options.assignments.push_back("backlog=10000");
  std::ostringstream out;
  std::ostringstream err;
  const int status = run_simulate(options, out, err);
  return {status, out.str(), err.str()};
}

Simulated plan(const PlanOptions& options) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = run_plan(options, out, err);
  return {status, out.str(), err.str()};
}

TEST(Simulate, PrintsOneLineForEachScenarioAndLaw) {
  const Simulated r = simulate({.scenario = "S1", .compare = {"aimd"}});
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, HasSubstr("adaptive"));
  EXPECT_THAT(r.out, HasSubstr("aimd"));
}

TEST(Simulate, JsonHasOneEntryPerSeedAndLaw) {
  const Simulated r =
      simulate({.scenario = "S1", .compare = {"aimd", "adaptive"}, .seed = 5, .seeds = 2, .json = true});
  const auto parsed = nlohmann::json::parse(r.out);
  ASSERT_EQ(parsed["runs"].size(), 4u);
  EXPECT_EQ(parsed["runs"][0]["seed"], 5);
  EXPECT_EQ(parsed["runs"][1]["seed"], 6);
}

TEST(Simulate, WritesAReport) {
  const std::string path = testing::TempDir() + "spillway-simulate-report.html";
  EXPECT_EQ(simulate({.scenario = "S1", .report = path}).status, 0);
  EXPECT_GT(std::filesystem::file_size(path), 50'000u);
  std::remove(path.c_str());
}

TEST(Simulate, AReportThatCannotBeWrittenIsAFailure) {
  const Simulated r = simulate({.scenario = "S1", .report = "/no/such/folder/report.html"});
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.err, HasSubstr("/no/such/folder/report.html"));
}

TEST(Simulate, ReadsAScenarioOfOnesOwn) {
  const std::string path = testing::TempDir() + "spillway-own-scenario.yaml";
  std::ofstream(path) << "name: mine\nlive: {rate: 500}\n";
  const Simulated r = simulate({.scenario = path});
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, HasSubstr("mine"));
  std::remove(path.c_str());
}

TEST(Simulate, WrongUsageIsTwo) {
  EXPECT_EQ(simulate({.scenario = "S99"}).status, 2);
  EXPECT_EQ(simulate({.scenario = "S1", .law = "pid"}).status, 2);
  EXPECT_EQ(simulate({.scenario = "S1", .assignments = {"governor.maxx=5"}}).status, 2);
  EXPECT_EQ(simulate({.scenario = "S1", .seeds = 0}).status, 2);
}

TEST(Plan, SaysTheTimeAndWhatADropCosts) {
  const Simulated r = plan({.backlog = 1'000'000, .capacity = 2000, .live = 1200, .laws = {}});
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, HasSubstr("20 min 50 s"));
  EXPECT_THAT(r.out, HasSubstr("with 30 % less capacity throughout: 83 min 20 s"));
}

TEST(Plan, SimulatesEachGovernor) {
  const Simulated r =
      plan({.backlog = 10000, .capacity = 2000, .live = 1200, .laws = {"adaptive", "aimd"}, .json = true});
  const auto parsed = nlohmann::json::parse(r.out);
  EXPECT_EQ(parsed["simulated"].size(), 2u);
  EXPECT_DOUBLE_EQ(parsed["clear_seconds"], 12.5);
}

TEST(Plan, ABacklogThatOnlyGrowsIsABadAnswer) {
  const Simulated r = plan({.backlog = 1000, .capacity = 1000, .live = 1200});
  EXPECT_EQ(r.status, 3);
  EXPECT_THAT(r.out, HasSubstr("never at this rate"));
}

TEST(Plan, FiguresThatMakeNoSenseAreWrongUsage) {
  EXPECT_EQ(plan({.backlog = 0, .capacity = 10}).status, 2);
  EXPECT_EQ(plan({.backlog = 10, .capacity = 0}).status, 2);
}

}  // namespace
}  // namespace spillway::app
