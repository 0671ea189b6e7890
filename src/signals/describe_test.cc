#include "signals/describe.h"

#include <gtest/gtest.h>

#include "governor/law.h"

namespace spillway::signals {
namespace {

using namespace std::chrono_literals;
using config::SignalConfig;
using config::SignalKind;

TEST(Describe, TakesTheCeilingsOver) {
  const auto spec = describe({.name = "bank",
                              .latency_ceiling = 250ms,
                              .error_ceiling = config::Ratio{0.05},
                              .tolerance = config::Ratio{0.01}});
  EXPECT_EQ(spec.name, "bank");
  EXPECT_EQ(spec.latency_ceiling_s, 0.25);
  EXPECT_EQ(spec.error_ceiling, 0.05);
  EXPECT_EQ(spec.tolerance, 0.01);
  EXPECT_TRUE(spec.counts_events);
}

TEST(Describe, ADeadTimeIsAtLeastASecond) {
  EXPECT_EQ(describe({.dead_time = 200ms}).dead_time_s, 1);
  EXPECT_EQ(describe({.dead_time = 4s}).dead_time_s, 4);
}

TEST(Describe, AutoOverestimates) {
  EXPECT_EQ(describe({.every = 3s, .dead_time = std::nullopt}).dead_time_s, 4);
  EXPECT_EQ(describe({.kind = SignalKind::kKafkaLag, .dead_time = std::nullopt}).dead_time_s, 7);
}

TEST(Describe, SamplesComeAtMostOnceASecond) {
  EXPECT_EQ(describe({.every = 100ms}).every_s, 1);
  EXPECT_EQ(describe({.every = 15s}).every_s, 15);
}

TEST(Describe, WithoutACeilingErrorsHardlySteerButForAProbe) {
  EXPECT_EQ(describe({.kind = SignalKind::kPush}).error_ceiling, 1);
  EXPECT_EQ(describe({.kind = SignalKind::kHttpProbe}).error_ceiling, 0.02);
  EXPECT_FALSE(describe({.kind = SignalKind::kHttpProbe}).counts_events);
}

TEST(Describe, EveryKindPassesTheGovernorsCheck) {
  governor::GovernorSpec spec;
  for (const auto kind : {SignalKind::kPrometheus, SignalKind::kKafkaLag, SignalKind::kHttpProbe, SignalKind::kPush,
                          SignalKind::kRelay}) {
    spec.signals.push_back(describe({.name = "s", .kind = kind, .ceiling = 2s}));
  }
  EXPECT_TRUE(governor::check(spec)) << governor::check(spec).error().message;
}

}  // namespace
}  // namespace spillway::signals
