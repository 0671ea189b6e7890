// The relay dies again and again while it lets a backlog out and judges it.
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "recovery/recovery_rig.h"

namespace spillway::testing {
namespace {

constexpr int kKills = 10;
// A dead relay's lease ends after ten seconds; then the next one works for a while.
constexpr double kBetweenS = 16;

constexpr const char* kRules =
    "triage:\n"
    "  rules:\n"
    "    - {name: expired-session, when: {type: \"session.*\", older_than: 1m}, then: discard}\n"
    "    - {name: doubtful-payment, when: {type: \"payment.*\", sql: \"select 1 where length($aggregateid) % 2 = 0\"}, "
    "then: reconcile}\n"
    "    - {name: quote-superseded, when: {type: \"quote.*\", newer_for_key: true}, then: discard}\n";

using Verdicts = std::map<std::string, std::string>;

Verdicts verdicts(const PostgresServer& server) {
  Verdicts found;
  for (const auto& row : server.execute("select id::text, verdict || ' by ' || rule from spillway.settled "
                                        "where verdict <> 'waiting'")) {
    found[*row[0]] = *row[1];
  }
  return found;
}

void expect_kept(const Verdicts& earlier, const Verdicts& later) {
  for (const auto& [id, verdict] : earlier) {
    const auto now = later.find(id);
    ASSERT_NE(now, later.end()) << id << " was " << verdict << " and is not recorded any more";
    EXPECT_EQ(now->second, verdict) << id;
  }
}

TEST(KilledRelay, LosesNothingKeepsOrderAndNeverChangesItsMind) {
  sim::Scenario scenario = scenario_file("drop.yaml");
  scenario.name = "bank-killed-relay";
  scenario.changes.clear();
  scenario.backlog = 40'000;
  RecoveryRig rig({.scenario = scenario,
                   .events_per_key = 7,  // so that the events of a key are of several types
                   .backlog_types = {"order.changed", "session.opened", "order.changed", "payment.due", "quote.made"},
                   .triage = kRules});
  Verdicts before;
  for (int kill = 1; kill <= kKills; ++kill) {
    rig.at(kill * kBetweenS, [&] {
      rig.relay().kill9();
      const Verdicts now = verdicts(rig.server());
      expect_kept(before, now);
      before = now;
      rig.relay().start();
    });
  }
  rig.run_until_clear(600);
  // What was written while no relay was there has become backlog, and is still going out.
  const RecoveryReport report = rig.finish(std::chrono::seconds(240));
  EXPECT_EQ(report.lost, 0);
  EXPECT_EQ(report.inversions, 0);
  ASSERT_TRUE(report.clear_s) << rig.relay().log();
  EXPECT_GT(*report.clear_s, kKills * kBetweenS) << "it was done before it was killed for the last time";
  const Verdicts after = verdicts(rig.server());
  expect_kept(before, after);
  EXPECT_FALSE(after.empty());
  for (const auto& [id, verdict] : after) EXPECT_FALSE(rig.delivered(id)) << id << ": " << verdict;
}

}  // namespace
}  // namespace spillway::testing
