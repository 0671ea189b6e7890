#include "status/steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "status/status_samples.h"

namespace spillway::status {
namespace {

using testing::IsEmpty;

base::Instant at(int s) { return base::Instant{} + std::chrono::seconds(s); }

governor::Decision decided(governor::CauseKind kind) {
  return {.total_rate = 1500,
          .backlog_budget = 300,
          .state = governor::State::kTracking,
          .cause = {kind, "bank", 0.39, 0.4, ""},
          .capacity = 1550,
          .live_rate = 1200};
}

LiveFigures described(Steering& steering, int s) {
  LiveFigures live = running();
  steering.describe(at(s), live);
  return live;
}

TEST(Steering, LeavesAStatusAsItIsUntilSomethingWasSaid) {
  Steering steering;
  const LiveFigures live = described(steering, 5);
  EXPECT_EQ(live.governor, running().governor);
  EXPECT_THAT(live.signals, IsEmpty());
  EXPECT_FALSE(live.sent);
  EXPECT_FALSE(live.live.events);
}

TEST(Steering, ShowsTheDecisionAndSinceWhenItIsSo) {
  Steering steering;
  steering.decided(7, governor::LawKind::kAdaptive, decided(governor::CauseKind::kGrowing));
  steering.decided(8, governor::LawKind::kAdaptive, decided(governor::CauseKind::kLatency));
  steering.decided(9, governor::LawKind::kAdaptive, decided(governor::CauseKind::kLatency), 1400);
  const LiveFigures live = described(steering, 0);
  EXPECT_EQ(live.governor.law, "adaptive");
  EXPECT_EQ(live.governor.cause, "latency");
  EXPECT_EQ(live.governor.live_demand, 1200);
  EXPECT_EQ(live.governor.held_at, 1400);
  EXPECT_EQ(live.governor.since_unix_micros, 8);
  EXPECT_EQ(steering.explanation(subject()).changes.size(), 2U);
  EXPECT_EQ(steering.explanation(subject()).law, "adaptive");
}

TEST(Steering, MeasuresTheLanes) {
  Steering steering;
  for (int s = 0; s <= 20; ++s) {
    steering.sent(at(s), {.live = 1200 * s, .promoted = 10 * s, .backlog = 300 * s}, {.events = 40, .oldest_age_s = 1});
  }
  const LiveFigures live = described(steering, 20);
  EXPECT_EQ(live.sent->backlog, 6000);
  EXPECT_EQ(live.live.events, 40);
  EXPECT_NEAR(*live.rates.live, 1200, 1);
  EXPECT_NEAR(*live.rates.promoted, 10, 1);
  EXPECT_NEAR(*live.rates.backlog, 300, 1);
}

TEST(Steering, FollowsTheLatencyOfEachSignal) {
  Steering steering;
  for (int s = 0; s <= 200; ++s) {
    steering.heard(at(s), {{.name = "bank", .p99_ms = 100.0 + s}, {.name = "lag"}, {.name = "probe", .p99_ms = 50.0}});
  }
  LiveFigures live = described(steering, 200);
  ASSERT_EQ(live.signals.size(), 3U);
  EXPECT_TRUE(live.signals[0].climb);
  EXPECT_FALSE(live.signals[1].climb);
  EXPECT_FALSE(live.signals[2].climb);
  steering.heard(at(201), {});
  steering.heard(at(202), {{.name = "bank", .p99_ms = 302.0}});
  EXPECT_FALSE(described(steering, 202).signals[0].climb) << "another signal of the same name, after a reload";
}

}  // namespace
}  // namespace spillway::status
