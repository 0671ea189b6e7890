#include "governor/decision_log.h"

#include <gtest/gtest.h>

#include <limits>

namespace spillway::governor {
namespace {

Decision decided(double total, CauseKind kind, State state = State::kTracking, const char* signal = "bank") {
  Decision d;
  d.total_rate = total;
  d.state = state;
  d.cause = {kind, signal, 0, 0, ""};
  return d;
}

TEST(DecisionLog, KeepsTheFirstDecisionOfEachStateAndCause) {
  DecisionLog log;
  EXPECT_FALSE(log.latest());
  EXPECT_FALSE(log.since_unix_micros());
  EXPECT_TRUE(log.observe(1, decided(100, CauseKind::kGrowing)));
  EXPECT_FALSE(log.observe(2, decided(120, CauseKind::kGrowing)));
  EXPECT_TRUE(log.observe(3, decided(90, CauseKind::kLatency)));
  EXPECT_TRUE(log.observe(4, decided(90, CauseKind::kLatency, State::kBackingOff)));
  EXPECT_TRUE(log.observe(5, decided(90, CauseKind::kLatency, State::kBackingOff, "lag")));
  EXPECT_FALSE(log.observe(6, decided(91, CauseKind::kLatency, State::kBackingOff, "lag")));
  ASSERT_EQ(log.changes().size(), 4U);
  EXPECT_EQ(log.changes()[1].unix_micros, 3);
  EXPECT_EQ(log.changes()[1].action, Action::kLower);
  EXPECT_EQ(log.latest()->decision.total_rate, 91);
  EXPECT_EQ(log.since_unix_micros(), 5);
}

TEST(DecisionLog, NamesWhatADecisionDoesToTheRate) {
  DecisionLog log;
  const auto action = [&](Decision d) {
    log.observe(0, d);
    return log.latest()->action;
  };
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(action(decided(kInfinite, CauseKind::kUnlimited)), Action::kKeep);
  EXPECT_EQ(action(decided(kInfinite, CauseKind::kUnlimited)), Action::kKeep);
  EXPECT_EQ(action(decided(1000, CauseKind::kOverride)), Action::kLower);
  EXPECT_EQ(action(decided(1000.5, CauseKind::kOverride)), Action::kKeep);
  EXPECT_EQ(action(decided(1010, CauseKind::kGrowing)), Action::kRaise);
  EXPECT_EQ(action(decided(900, CauseKind::kSignalMissing, State::kBlind)), Action::kFreeze);
  Decision held = decided(50, CauseKind::kCollapsed, State::kBraking);
  held.live_cap = 50;
  EXPECT_EQ(action(held), Action::kBrake);
}

TEST(DecisionLog, CountsEveryDecisionAndForgetsTheOldestChange) {
  DecisionLog log;
  for (int i = 0; i < 1000; ++i) log.observe(i, decided(100, i % 2 == 0 ? CauseKind::kGrowing : CauseKind::kQueue));
  EXPECT_EQ(log.changes().size(), DecisionLog::kKept);
  EXPECT_EQ(log.changes().front().unix_micros, 800);
  EXPECT_EQ(log.counts().at({Action::kKeep, CauseKind::kGrowing}), 500U);
  EXPECT_EQ(log.counts().at({Action::kKeep, CauseKind::kQueue}), 500U);
}

}  // namespace
}  // namespace spillway::governor
