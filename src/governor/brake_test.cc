#include "governor/brake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor/collapse.h"
#include "governor/fluid_plant_for_test.h"

namespace spillway::governor {
namespace {

using testing::Ge;
using testing::HasSubstr;
using testing::Le;

CollapseWatch::Window late(double errors = 0.5, double completions = 1000) {
  return {.completions = completions,
          .sent_earlier = 1000,
          .error_ratio = errors,
          .mean_s = 2,
          .p99_s = 3,
          .latency_ceiling_s = 0.4,
          .base_mean_s = 0.05};
}

CollapseWatch::Window well(double completions = 1000) {
  return {.completions = completions,
          .sent_earlier = completions,
          .error_ratio = 0,
          .mean_s = 0.05,
          .p99_s = 0.2,
          .latency_ceiling_s = 0.4,
          .base_mean_s = 0.05};
}

TEST(CollapseWatch, TwoLateWindowsInARowAreACollapse) {
  CollapseWatch watch;
  watch.on_window(late());
  EXPECT_FALSE(watch.answers_too_late());
  watch.on_window(well());
  watch.on_window(late());
  EXPECT_FALSE(watch.answers_too_late()) << "not in a row";
  watch.on_window(late());
  EXPECT_TRUE(watch.answers_too_late());
}

TEST(CollapseWatch, ErrorsWithoutLatencyAreNone) {
  CollapseWatch watch;
  auto w = late(0.9);
  w.p99_s = 0.39;
  for (int i = 0; i < 5; ++i) watch.on_window(w);
  EXPECT_FALSE(watch.answers_too_late());
}

TEST(CollapseWatch, AFewEventsAreNoEvidence) {
  CollapseWatch watch;
  auto w = late(0.9, 19);
  w.sent_earlier = 19;
  for (int i = 0; i < 5; ++i) watch.on_window(w);
  EXPECT_FALSE(watch.answers_too_late());
}

TEST(CollapseWatch, ThreeWindowsWithNextToNothingAreAStop) {
  CollapseWatch watch;
  watch.on_silence(1, 1000);
  watch.on_silence(1, 1000);
  EXPECT_FALSE(watch.stopped());
  auto trickle = well(50);
  trickle.sent_earlier = 1000;
  watch.on_window(trickle);
  EXPECT_TRUE(watch.stopped());
}

TEST(CollapseWatch, SilenceAfterHardlyAnythingWasSentIsNone) {
  CollapseWatch watch;
  for (int i = 0; i < 10; ++i) watch.on_silence(1, 19);
  EXPECT_FALSE(watch.stopped());
}

TEST(CollapseWatch, AWindowOfSeveralSecondsStandsForAsMany) {
  CollapseWatch watch;
  auto w = late();
  w.windows = 5;
  watch.on_window(w);
  EXPECT_TRUE(watch.answers_too_late());
}

TEST(CollapseWatch, IsWellAfterTwoWindowsWithoutErrorsAndQueue) {
  CollapseWatch watch;
  watch.on_window(well());
  EXPECT_FALSE(watch.healthy());
  watch.on_window(well());
  EXPECT_TRUE(watch.healthy());
  watch.on_silence(1, 0);
  EXPECT_FALSE(watch.healthy());
}

Brake::Inputs calm(double t) { return {.t = t, .capacity = 2000, .live_rate = 1000}; }

Brake::Inputs collapsed(double t) {
  Brake::Inputs in = calm(t);
  in.trouble = Brake::Trouble::kLate;
  in.median_completions = 1000;
  in.last_completions = 1000;
  return in;
}

TEST(Brake, HoldsAllButProbesOfAServiceThatAnswersTooLate) {
  Brake brake;
  brake.step(collapsed(100));
  EXPECT_EQ(brake.phase(), Brake::Phase::kHold);
  EXPECT_DOUBLE_EQ(brake.release_capacity(), 900);
  EXPECT_DOUBLE_EQ(brake.probe_rate(), 45) << "5 % of what it will be released at";
}

TEST(Brake, ProbesNoMoreThanHalfOfWhatCompletesButTwoASecond) {
  Brake brake;
  auto in = collapsed(100);
  in.last_completions = 20;
  brake.step(in);
  EXPECT_DOUBLE_EQ(brake.probe_rate(), 10);
  in.t = 101;
  in.last_completions = 0;
  brake.step(in);
  EXPECT_DOUBLE_EQ(brake.probe_rate(), 2);
}

TEST(Brake, AfterAStopReleasesAtSevenTenthsOfTheLastHealthyCapacity) {
  Brake brake;
  brake.note_healthy(1900);
  auto in = calm(100);
  in.trouble = Brake::Trouble::kStopped;
  in.median_completions = 700;
  brake.step(in);
  EXPECT_DOUBLE_EQ(brake.release_capacity(), 0.7 * 1900);
}

TEST(Brake, ReleasesAfterADeadTimeAndASecondWhenAllIsWell) {
  Brake brake;
  brake.step(collapsed(100));
  auto in = calm(101.9);
  in.all_healthy = true;
  EXPECT_FALSE(brake.step(in)) << "too early";
  in.t = 102.1;
  in.all_healthy = false;
  EXPECT_FALSE(brake.step(in)) << "not well";
  in.all_healthy = true;
  in.held_live = 500;
  EXPECT_TRUE(brake.step(in));
  EXPECT_EQ(brake.phase(), Brake::Phase::kRelease);
}

TEST(Brake, RunsWhenLessThanATenthOfASecondOfLiveIsHeld) {
  Brake brake;
  brake.step(collapsed(100));
  auto in = calm(103);
  in.all_healthy = true;
  in.held_live = 500;
  brake.step(in);
  in.t = 104;
  in.held_live = 101;
  brake.step(in);
  EXPECT_EQ(brake.phase(), Brake::Phase::kRelease);
  in.held_live = 100;
  brake.step(in);
  EXPECT_EQ(brake.phase(), Brake::Phase::kRun);
}

TEST(Brake, DoesNotBrakeAgainWithinADeadTimeOfItsRelease) {
  Brake brake;
  brake.step(collapsed(100));
  auto in = calm(103);
  in.all_healthy = true;
  brake.step(in);
  brake.step(collapsed(104));
  EXPECT_NE(brake.phase(), Brake::Phase::kHold);
  brake.step(collapsed(105.1));
  EXPECT_EQ(brake.phase(), Brake::Phase::kHold);
}

// Refusals complete at once, so that a service in ruins may complete more than it can do.
TEST(Brake, ACollapseUnderHeldLiveReleasesBelowWhatCausedIt) {
  Brake brake;
  brake.step(collapsed(100));
  auto in = calm(103);
  in.all_healthy = true;
  in.held_live = 5000;
  ASSERT_TRUE(brake.step(in));
  in = collapsed(110);
  in.median_completions = 2400;
  in.capacity = 1500;
  brake.step(in);
  EXPECT_EQ(brake.phase(), Brake::Phase::kHold);
  EXPECT_DOUBLE_EQ(brake.release_capacity(), 0.7 * 1500);
}

TEST(AdaptiveBrake, HoldsLiveWhileDownstreamIsStoppedAndReleasesItFirst) {
  FluidLoop loop(one_signal());
  loop.run(60);
  loop.capacity = 1e-9;
  loop.run(8);
  EXPECT_EQ(loop.last().state, State::kBraking);
  EXPECT_EQ(loop.last().cause.kind, CauseKind::kStopped);
  EXPECT_THAT(text(loop.last()), HasSubstr("live is held"));
  ASSERT_TRUE(loop.last().live_cap);
  EXPECT_THAT(*loop.last().live_cap, Le(2));
  EXPECT_DOUBLE_EQ(loop.last().backlog_budget, 0);
  EXPECT_THAT(loop.held, Ge(2000));
  loop.capacity = 20000;  // the queue goes at once
  loop.run(1);
  loop.capacity = 2000;
  for (int i = 0; i < 40 && loop.held > 200; ++i) {
    loop.run(1);
    if (loop.held > 1500) {
      EXPECT_DOUBLE_EQ(loop.last().backlog_budget, 0) << "held live goes first";
    }
  }
  loop.run(60);
  EXPECT_DOUBLE_EQ(loop.held, 0);
  EXPECT_FALSE(loop.last().live_cap);
  EXPECT_THAT(loop.last().total_rate, Ge(1800));
}

// Downstream is gone for eight seconds, and for one clears away what had waited there.
void collapse_and_return(FluidLoop& loop) {
  loop.run(60);
  loop.capacity = 1e-9;
  loop.run(8);
  ASSERT_EQ(loop.last().state, State::kBraking);
  loop.capacity = 20000;
  loop.run(1);
}

// Slower than before, so that live alone is over the ceiling of p99; all of it is delivered, and on the mean it is
// well.
TEST(AdaptiveBrake, AP99OverItsCeilingDoesNotKeepHeldLiveBack) {
  FluidLoop loop(one_signal());
  loop.live = 1500;  // more than the capacity with which it is released
  ASSERT_NO_FATAL_FAILURE(collapse_and_return(loop));
  loop.capacity = 2000;
  loop.base_mean_s = 0.09;
  loop.run(180);
  EXPECT_DOUBLE_EQ(loop.held, 0);
}

TEST(AdaptiveBrake, WhereItIsTheCapacityThatLacksHeldLiveKeepsAMildQueueWithoutSwinging) {
  FluidLoop loop(one_signal());
  ASSERT_NO_FATAL_FAILURE(collapse_and_return(loop));
  loop.capacity = 800;
  loop.run(60);
  for (int i = 0; i < 60; ++i) {
    loop.run(1);
    EXPECT_THAT(loop.base_mean_s + loop.queue() / loop.capacity, Le(0.15)) << "well below half of the ceiling";
    EXPECT_THAT(loop.last().total_rate, Ge(0.95 * loop.capacity));
    EXPECT_THAT(loop.last().total_rate, Le(1.05 * loop.capacity));
  }
}

TEST(AdaptiveBrake, ASignalWithoutLatencyReleasesToo) {
  FluidLoop loop(one_signal());
  loop.tells_latency = false;
  loop.run(60);
  loop.capacity = 0;
  loop.run(8);
  ASSERT_EQ(loop.last().state, State::kBraking);
  loop.capacity = 20000;
  loop.run(30);
  EXPECT_NE(loop.last().state, State::kBraking);
  EXPECT_DOUBLE_EQ(loop.held, 0);
}

TEST(AdaptiveBrake, TheFloorDoesNotApplyWhileBraking) {
  GovernorSpec spec = one_signal();
  spec.min = 500;
  FluidLoop loop(spec);
  loop.run(60);
  loop.capacity = 1e-9;
  loop.run(8);
  EXPECT_THAT(loop.last().total_rate, Le(2));
}

TEST(AdaptiveBrake, BusinessErrorsAloneNeverBrake) {
  FluidLoop loop(one_signal());
  loop.run(60);
  loop.error_share = 0.9;
  loop.run(30);
  for (const Decision& d : loop.decisions) EXPECT_NE(d.state, State::kBraking);
}

TEST(AdaptiveBrake, IsOffWhereLiveMayNotBeHeld) {
  GovernorSpec spec = one_signal();
  spec.hold_live = false;
  FluidLoop loop(spec);
  loop.run(60);
  loop.capacity = 1e-9;
  loop.run(30);
  EXPECT_FALSE(loop.last().live_cap);
  EXPECT_NE(loop.last().state, State::kBraking);
}

TEST(AdaptiveBrake, ProbesComeFromTheBacklogWhereThereIsNoLive) {
  GovernorSpec spec = one_signal();
  spec.stored_capacity = 2000;
  FluidLoop loop(spec);
  loop.live = 0;
  loop.run(60);
  loop.capacity = 1e-9;
  loop.run(8);
  EXPECT_EQ(loop.last().state, State::kBraking);
  EXPECT_DOUBLE_EQ(loop.last().backlog_budget, loop.last().total_rate);
}

}  // namespace
}  // namespace spillway::governor
