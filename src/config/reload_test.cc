#include "config/reload.h"

#include <gtest/gtest.h>

#include "config/testing.h"

namespace spillway::config {
namespace {

Config loaded(const std::string& more) { return load_text(kComplete + more, "a.yaml", fake_sources()).value().config; }

TEST(Reload, NothingChangesBetweenEqualConfigurations) {
  const auto plan = diff_for_reload(loaded("log: {level: info}\n"), loaded(""));
  EXPECT_TRUE(plan.allowed());
  EXPECT_TRUE(plan.changes.empty());
}

TEST(Reload, GovernorSignalsTriageAndLogLevelChangeInPlace) {
  const auto plan = diff_for_reload(
      loaded(""),
      loaded(
          "log: {level: debug}\ngovernor: {max: 100}\ntriage: {replay_window: 24h, rules: [{name: r, when: {type: x}, "
          "then: discard}]}\nsignals: [{name: a, kind: push, latency_ceiling: 1s}]\n"));
  EXPECT_TRUE(plan.allowed());
  ASSERT_EQ(plan.changes.size(), 5U);
  EXPECT_EQ(plan.changes[0].key, "governor.max");
  EXPECT_EQ(plan.changes[0].before, "none");
  EXPECT_EQ(plan.changes[0].after, "100");
  EXPECT_EQ(plan.changes[1].key, "signals");
  EXPECT_EQ(plan.changes[2].key, "triage.replay_window");
  EXPECT_EQ(plan.changes[3].key, "triage.rules");
  EXPECT_EQ(plan.changes[4].key, "log.level");
}

TEST(Reload, EverythingElseNeedsARestartAndIsNamed) {
  const auto plan = diff_for_reload(loaded(""), loaded("log: {level: debug, format: json}\nshutdown: {limit: 6s}\n"));
  EXPECT_FALSE(plan.allowed());
  EXPECT_EQ(plan.needs_restart, (std::vector<std::string>{"shutdown.limit", "log.format"}));
  auto other = loaded("");
  other.kafka.properties[0].value = "c:9092";
  EXPECT_EQ(diff_for_reload(loaded(""), other).needs_restart, std::vector<std::string>{"kafka.bootstrap.servers"});
}

TEST(Reload, AChangedMemberOfASignalCounts) {
  const auto plan = diff_for_reload(loaded("signals: [{name: a, kind: push, latency_ceiling: 1s}]\n"),
                                    loaded("signals: [{name: a, kind: push, latency_ceiling: 2s}]\n"));
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].key, "signals");
}

TEST(Reload, AChangedHeaderOfARuleCounts) {
  const auto with = [](const std::string& value) {
    return loaded("triage: {rules: [{name: r, when: {header: {tenant: " + value + "}}, then: discard}]}\n");
  };
  EXPECT_TRUE(diff_for_reload(with("a"), with("a")).changes.empty());
  ASSERT_EQ(diff_for_reload(with("a"), with("b")).changes.size(), 1U);
}

}  // namespace
}  // namespace spillway::config
