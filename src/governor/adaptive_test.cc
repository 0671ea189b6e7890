// The rules of the adaptive law, each in a closed loop with a downstream of whole seconds.
#include "governor/adaptive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "governor/fluid_plant_for_test.h"

namespace spillway::governor {
namespace {

using testing::Ge;
using testing::HasSubstr;
using testing::Le;

class Adaptive : public testing::Test {
 protected:
  FluidLoop loop_{one_signal()};
};

TEST_F(Adaptive, StartsALittleAboveLive) {
  loop_.run(1);
  EXPECT_DOUBLE_EQ(loop_.decisions.front().capacity, 1.02 * 1200);
  EXPECT_EQ(loop_.decisions.front().state, State::kSlowStart);
}

TEST_F(Adaptive, StartsAtFourFifthsOfAStoredCapacity) {
  GovernorSpec spec = one_signal();
  spec.stored_capacity = 2000;
  FluidLoop loop(spec);
  loop.run(1);
  EXPECT_DOUBLE_EQ(loop.decisions.front().capacity, 1600);
}

TEST_F(Adaptive, FindsTheCapacityAndKeepsNearIt) {
  loop_.run(60);
  EXPECT_NEAR(loop_.last().capacity, 2000, 60);
  EXPECT_EQ(loop_.last().state, State::kTracking);
  EXPECT_NEAR(loop_.last().total_rate, 2000, 80);
  EXPECT_DOUBLE_EQ(loop_.last().backlog_budget, loop_.last().total_rate - 1200);
}

TEST_F(Adaptive, TakesARealDropWithinSeconds) {
  loop_.run(60);
  loop_.capacity = 1400;
  loop_.run(5);
  EXPECT_THAT(loop_.last().capacity, Le(1500));
  loop_.run(40);
  EXPECT_NEAR(loop_.last().capacity, 1400, 60);
}

TEST_F(Adaptive, BetweenWindowsFollowsTheLiveRate) {
  loop_.run(60);
  const double total = loop_.last().total_rate;
  loop_.live = 1000;
  loop_.run(1);
  const Decision& before_the_window = loop_.decisions[loop_.decisions.size() - 1];
  EXPECT_DOUBLE_EQ(before_the_window.backlog_budget, before_the_window.total_rate - 1000);
  EXPECT_NEAR(before_the_window.total_rate, total, 0.1 * total);
}

TEST_F(Adaptive, NeverGoesUpWhileTheSignalIsMissing) {
  loop_.run(60);
  const double budget = loop_.last().backlog_budget;
  const double total = loop_.last().total_rate;
  loop_.lose_signal = true;
  const std::size_t from = loop_.decisions.size();
  loop_.run(60);
  for (std::size_t i = from; i < loop_.decisions.size(); ++i) {
    EXPECT_THAT(loop_.decisions[i].backlog_budget, Le(budget + 1e-6));
    EXPECT_THAT(loop_.decisions[i].total_rate, Le(total + 1e-6));
  }
  EXPECT_EQ(loop_.last().state, State::kBlind);
  EXPECT_EQ(loop_.last().cause.kind, CauseKind::kSignalMissing);
  EXPECT_EQ(loop_.last().cause.signal, "bank");
}

TEST_F(Adaptive, DecaysToATrickleWhileBlind) {
  loop_.run(60);
  loop_.lose_signal = true;
  loop_.run(120);
  EXPECT_NEAR(loop_.last().backlog_budget, 20, 1e-6);
}

TEST_F(Adaptive, TheBacklogDoesNotGrowIntoWhatLiveLeavesWhileBlind) {
  loop_.run(60);
  const double budget = loop_.last().backlog_budget;
  loop_.lose_signal = true;
  loop_.run(2);
  loop_.live = 200;
  const std::size_t from = loop_.decisions.size();
  loop_.run(30);
  for (std::size_t i = from; i < loop_.decisions.size(); ++i) {
    EXPECT_THAT(loop_.decisions[i].backlog_budget, Le(budget + 1e-6));
  }
}

TEST_F(Adaptive, RisingLiveTakesFromTheBacklogWhileBlind) {
  loop_.run(60);
  const double total = loop_.last().total_rate;
  loop_.lose_signal = true;
  loop_.run(5);
  loop_.live = 1900;
  loop_.run(1);
  EXPECT_THAT(loop_.last().backlog_budget, Le(std::max(0.0, total - 1900) + 1e-6));
}

TEST_F(Adaptive, KeepsItsCapacityThroughAShortBlindness) {
  loop_.run(60);
  const double capacity = loop_.last().capacity;
  loop_.lose_signal = true;
  loop_.run(30);
  EXPECT_DOUBLE_EQ(loop_.last().capacity, capacity);
  loop_.lose_signal = false;
  loop_.run(30);
  EXPECT_NEAR(loop_.last().total_rate, 2000, 100);
}

TEST_F(Adaptive, StartsSlowlyAtHalfAfterMoreThanAMinuteOfBlindness) {
  loop_.run(60);
  const double capacity = loop_.last().capacity;
  loop_.lose_signal = true;
  loop_.run(70);
  loop_.lose_signal = false;
  loop_.run(1);
  EXPECT_THAT(loop_.last().capacity, Le(0.5 * capacity * 1.2 + 1));
  EXPECT_EQ(loop_.last().state, State::kSlowStart);
}

TEST_F(Adaptive, LiveAloneTakesItAll) {
  loop_.run(60);
  loop_.live = 1980;
  loop_.run(3);
  EXPECT_DOUBLE_EQ(loop_.last().backlog_budget, 0);
  EXPECT_EQ(loop_.last().cause.kind, CauseKind::kLiveTakesAll);
  EXPECT_THAT(text(loop_.last()), HasSubstr("live traffic uses all of "));
}

TEST_F(Adaptive, BacklogMinimumHoldsEvenWhereLiveTakesAll) {
  GovernorSpec spec = one_signal();
  spec.backlog_min = 30;
  FluidLoop loop(spec);
  loop.run(60);
  loop.live = 2100;
  loop.run(1);
  EXPECT_DOUBLE_EQ(loop.last().backlog_budget, 30);
}

TEST_F(Adaptive, RetryAfterIsAHardBoundForThatLong) {
  loop_.run(60);
  loop_.capacity = 1500;
  loop_.run(1);
  loop_.retry_after_s = 5;
  loop_.run(1);
  loop_.retry_after_s.reset();
  loop_.capacity = 4000;
  loop_.run(1);
  const std::size_t from = loop_.decisions.size() - 4;
  for (std::size_t i = from; i < loop_.decisions.size(); ++i) {
    EXPECT_THAT(loop_.decisions[i].total_rate, Le(1500));
    EXPECT_EQ(loop_.decisions[i].cause.kind, CauseKind::kThrottled);
  }
}

TEST_F(Adaptive, StopsCuttingForErrorsThatLoadDoesNotCause) {
  loop_.run(60);
  loop_.error_share = 0.05;
  loop_.run(2);
  EXPECT_THAT(loop_.last().total_rate, Le(1800)) << "at first it cuts";
  loop_.run(40);
  EXPECT_EQ(loop_.last().cause.kind, CauseKind::kErrorsNotLoad);
  EXPECT_THAT(loop_.last().total_rate, Ge(1800));
}

TEST_F(Adaptive, RelearnsTheBaseOfAServiceThatBecameSlowerByItself) {
  loop_.run(60);
  loop_.base_mean_s = 0.06;
  loop_.run(120);
  EXPECT_THAT(loop_.last().total_rate, Ge(1900));
}

TEST_F(Adaptive, OneBadWindowMayDipTheRateButNotTheCapacity) {
  loop_.run(60);
  const double capacity = loop_.last().capacity;
  SignalSample bad;
  bad.completions = 500;
  bad.good = 500;
  bad.mean_s = 0.5;
  bad.p99_s = 0.9;
  loop_.instead = bad;
  loop_.run(1);
  EXPECT_THAT(loop_.last().capacity, Ge(0.999 * capacity));
  EXPECT_THAT(loop_.last().total_rate, Le(0.98 * capacity));
}

TEST_F(Adaptive, SomeTargetsMissingMayLowerTheRateButNeverRaiseIt) {
  loop_.run(20);
  const double total = loop_.last().total_rate;
  loop_.capacity = 4000;
  SignalSample half;
  half.completions = 600;
  half.good = 600;
  half.mean_s = 0.05;
  half.p99_s = 0.2;
  half.targets_answered = 1;
  half.targets_expected = 2;
  for (int i = 0; i < 20; ++i) {
    half.mean_s = 0.05 + 1e-6 * i;
    loop_.instead = half;
    loop_.run(1);
    EXPECT_THAT(loop_.last().total_rate, Le(total + 1e-6));
  }
  EXPECT_EQ(loop_.last().cause.kind, CauseKind::kPartialSignal);
}

TEST_F(Adaptive, LimitsWhatIsUnacknowledgedDownstream) {
  GovernorSpec spec = one_signal();
  spec.signals[0].base_path_s = 0.45;
  FluidLoop loop(spec);
  loop.run(60);
  EXPECT_NEAR(loop.last().in_flight_window, 1.25 * loop.last().capacity * (0.45 + 0.0515), 30);
}

TEST_F(Adaptive, LiveAloneOverTheCeilingCostsALaterBacklogNothing) {
  loop_.run(60);
  const double total = loop_.last().total_rate;
  loop_.backlog_waiting = false;
  loop_.base_mean_s = 0.09;
  loop_.run(100);
  loop_.base_mean_s = 0.05;
  loop_.backlog_waiting = true;
  loop_.run(30);
  EXPECT_THAT(loop_.last().total_rate, Ge(0.97 * total));
}

TEST_F(Adaptive, KeepsWithinItsBounds) {
  loop_.capacity = 10000;
  loop_.run(120);
  EXPECT_DOUBLE_EQ(loop_.last().total_rate, 3000);
  EXPECT_EQ(loop_.last().cause.kind, CauseKind::kMaximum);
}

TEST_F(Adaptive, OneOfTwoSignalsMissingStopsEveryRise) {
  GovernorSpec spec = one_signal();
  spec.signals.push_back({.name = "probe", .counts_events = false});
  Governor governor(spec);
  double total = 0;
  for (int t = 0; t < 40; ++t) {
    std::vector<SignalSample> samples;
    SignalSample bank;
    bank.covers_until = at(t);
    bank.completions = total;
    bank.good = total;
    bank.mean_s = 0.05 + 1e-6 * t;
    bank.p99_s = 0.2;
    if (t > 0) samples.push_back(bank);
    SignalSample probe;
    probe.signal = 1;
    probe.covers_until = at(t);
    probe.completions = 1;
    probe.good = 1;
    probe.mean_s = 0.05;
    probe.p99_s = 0.05;
    if (t > 0 && t < 10) samples.push_back(probe);
    const double before = total;
    const Decision& d = governor.tick(at(t), {.live_rate = 500, .sent_events = total, .samples = samples});
    if (t >= 13) {
      EXPECT_THAT(d.total_rate, Le(before + 1e-6)) << t;
    }
    total = d.total_rate;
    if (t > 20) {
      EXPECT_EQ(d.state, State::kBlind);
      EXPECT_EQ(d.cause.signal, "probe");
    }
  }
}

TEST_F(Adaptive, TheWorstOfTwoSignalsDecides) {
  GovernorSpec spec = one_signal();
  spec.signals.push_back({.name = "ledger"});
  Governor governor(spec);
  double total = 1000;
  for (int t = 0; t < 30; ++t) {
    std::vector<SignalSample> samples;
    for (std::size_t i = 0; i < 2 && t > 0; ++i) {
      SignalSample s;
      s.signal = i;
      s.covers_until = at(t);
      s.completions = total;
      s.good = total;
      s.mean_s = (i == 1 && t > 10 ? 0.2 : 0.05) + 1e-6 * t;
      s.p99_s = i == 1 && t > 10 ? 0.5 : 0.2;
      samples.push_back(s);
    }
    total = governor.tick(at(t), {.live_rate = 500, .sent_events = total, .samples = samples}).total_rate;
  }
  EXPECT_EQ(governor.last().state, State::kBackingOff);
  EXPECT_EQ(governor.last().cause.kind, CauseKind::kLatency);
  EXPECT_EQ(governor.last().cause.signal, "ledger");
}

}  // namespace
}  // namespace spillway::governor
