// The small parts of the law, one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "governor/base_shift.h"
#include "governor/baseline.h"
#include "governor/capacity.h"
#include "governor/error_cause.h"
#include "governor/fluid_plant_for_test.h"
#include "governor/headroom.h"
#include "governor/predictor.h"
#include "governor/reading.h"
#include "governor/sent_history.h"
#include "governor/signal_pool.h"
#include "governor/signal_track.h"
#include "governor/throttle_bound.h"
#include "governor/validation.h"

namespace spillway::governor {
namespace {

TEST(SentHistory, CountsPartsOfSlices) {
  SentHistory sent;
  sent.record(0, 0);
  sent.record(1, 100);
  sent.record(2, 200);
  EXPECT_DOUBLE_EQ(sent.over(0, 2, 0), 300);
  EXPECT_DOUBLE_EQ(sent.over(0.5, 1.5, 0), 150);
}

TEST(SentHistory, TakesTheGivenRateWhereItKnowsNothing) {
  SentHistory sent;
  sent.record(10, 0);
  sent.record(11, 100);
  EXPECT_DOUBLE_EQ(sent.over(8, 11, 7), 114);
}

TEST(SentHistory, ForgetsAfterNinetySeconds) {
  SentHistory sent;
  for (int t = 0; t <= 200; ++t) sent.record(t, 10);
  EXPECT_DOUBLE_EQ(sent.over(50, 60, 0), 0);
  EXPECT_DOUBLE_EQ(sent.over(150, 160, 0), 100);
}

TEST(SignalPool, PoolsUntilThereAreTwoHundredCompletions) {
  SignalPool pool;
  EXPECT_FALSE(pool.add(100, 0.05, 0.2).full);
  const auto second = pool.add(100, 0.07, 0.3);
  EXPECT_TRUE(second.full);
  EXPECT_DOUBLE_EQ(second.mean_s, 0.06);
  EXPECT_DOUBLE_EQ(second.p99_s, 0.25) << "the median of the two";
  EXPECT_DOUBLE_EQ(second.standard_error, 0.06 / std::sqrt(200));
  const auto third = pool.add(250, 0.1, 0.5);
  EXPECT_DOUBLE_EQ(third.mean_s, 0.1) << "enough by itself";
  EXPECT_DOUBLE_EQ(third.p99_s, 0.5);
}

TEST(SignalPool, HoldsEightWindowsAtMost) {
  SignalPool pool;
  pool.add(1, 8.0, 8.0);
  SignalPool::Summary last{};
  for (int i = 0; i < 8; ++i) last = pool.add(1, 0.1, 0.1);
  EXPECT_DOUBLE_EQ(last.completions, 8);
  EXPECT_NEAR(last.mean_s, 0.1, 1e-12);
}

TEST(Baseline, IsTheLeastOfThreeMinutesLiftedAFew) {
  Baseline base;
  base.learn(0, {.completions = 200, .mean_s = 0.04, .p99_s = 0.2, .standard_error = 0.001, .full = true});
  base.learn(100, {.completions = 200, .mean_s = 0.06, .p99_s = 0.3, .standard_error = 0, .full = true});
  EXPECT_NEAR(base.mean_s(), 1.03 * 0.041, 1e-12);
  EXPECT_NEAR(base.p99_s(), 1.08 * 0.2, 1e-12);
  base.learn(181, {.completions = 200, .mean_s = 0.06, .p99_s = 0.3, .standard_error = 0, .full = true});
  EXPECT_NEAR(base.mean_s(), 1.03 * 0.06, 1e-12) << "the oldest is forgotten";
}

TEST(Baseline, LearnsFromPoolsThatAreNotFullOnlyUntilItKnowsSomething) {
  Baseline base;
  base.learn(0, {.completions = 5, .mean_s = 0.05, .p99_s = 0.2, .standard_error = 0, .full = false});
  EXPECT_NEAR(base.mean_s(), 1.03 * 0.05, 1e-12);
  base.learn(1, {.completions = 5, .mean_s = 0.01, .p99_s = 0.02, .standard_error = 0, .full = false});
  EXPECT_NEAR(base.mean_s(), 1.03 * 0.05, 1e-12);
}

TEST(Reading, IsSaturatedOnlyBeyondNoise) {
  Reading r;
  r.standing_queue_s = 0.02;
  r.queue_wait_s = 0.015;
  r.standard_error_s = 0.01;
  EXPECT_FALSE(r.saturated()) << "1.5 standard errors are no queue";
  r.standard_error_s = 0.001;
  EXPECT_TRUE(r.saturated());
  r.standing_queue_s = 0.001;
  r.queue_wait_s = 0.005;
  EXPECT_FALSE(r.saturated()) << "below 6 ms nothing is a queue";
}

TEST(Reading, LagIsAQueueWhateverTheNoise) {
  Reading r;
  r.standing_queue_s = 0.02;
  r.lag_wait_s = 0.02;
  r.queue_wait_s = 0.02;
  r.standard_error_s = 1;
  EXPECT_TRUE(r.saturated());
}

TEST(Reading, ForHeldLiveNeitherP99NorABearableSlownessCounts) {
  Reading r;
  r.pressure = 1.4;
  r.tail_free_pressure = 0.3;
  r.queue_wait_s = 0.09;
  r.bearable_wait_s = 0.07;
  EXPECT_DOUBLE_EQ(for_held_live(r).pressure, 0.3);
  EXPECT_NEAR(for_held_live(r).queue_wait_s, 0.02, 1e-12);
  r.queue_wait_s = 0.05;
  EXPECT_DOUBLE_EQ(for_held_live(r).queue_wait_s, 0);
}

TEST(Reading, ForHeldLiveLagIsAQueueAsEver) {
  Reading r;
  r.lag_wait_s = 0.06;
  r.queue_wait_s = 0.1;
  r.bearable_wait_s = 0.07;
  EXPECT_DOUBLE_EQ(for_held_live(r).queue_wait_s, 0.06);
}

TEST(SignalTrack, WithoutItsTailASignalIsAsBadAsItsMeanItsErrorsOrItsRefusals) {
  SignalTrack track({.name = "bank"});
  SentHistory sent;
  double t = 0;
  const auto pressure = [&](double mean_s, double errors, std::optional<double> retry_after_s) {
    t += 1;
    SignalSample s;
    s.covers_until = at(t);
    s.completions = 1000;
    s.good = 1000 * (1 - errors);
    s.mean_s = mean_s;
    s.p99_s = 1 + 1e-6 * t;
    s.retry_after_s = retry_after_s;
    return track.take(s, sent, {.now = at(t), .t = t, .capacity = 1000}).reading.value().tail_free_pressure;
  };
  EXPECT_LT(pressure(0.05, 0, {}), 0.05);
  EXPECT_GT(pressure(0.2, 0, {}), 0.95) << "half of the ceiling";
  EXPECT_GT(pressure(0.051, 0.02, {}), 0.95);
  EXPECT_DOUBLE_EQ(pressure(0.052, 0, 1), 1);
}

TEST(Combination, TakesTheWorstOfEachAndKeepsItsOwner) {
  Reading slow;
  slow.signal = 0;
  slow.pressure = 0.9;
  slow.queue_wait_s = 0.01;
  Reading queued;
  queued.signal = 1;
  queued.pressure = 0.2;
  queued.queue_wait_s = 0.3;
  const Reading* all[] = {&slow, &queued};
  const Combined worst = combine(all);
  EXPECT_EQ(worst.pressure->signal, 0u);
  EXPECT_EQ(worst.queue->signal, 1u);
  EXPECT_EQ(worst.counts->signal, 1u);
}

TEST(Combination, CountsNothingWhereOnlyProbesSpeak) {
  Reading probe;
  probe.counts = false;
  const Reading* all[] = {&probe};
  EXPECT_EQ(combine(all).counts, nullptr);
}

CapacityEstimate::Window used_fully(double t, double capacity) {
  return {.t = t, .delivered = capacity, .sent_earlier = capacity};
}

TEST(Capacity, GrowsByAFifthPerDeadTimeInSlowStart) {
  CapacityEstimate c(1000, 50);
  c.on_window(used_fully(1, 1000));
  EXPECT_NEAR(c.value(), 1200, 1e-9);
  c.on_window({.t = 2, .dead_time_s = 5, .delivered = 1200, .sent_earlier = 1200});
  EXPECT_NEAR(c.value(), 1200 * 1.04, 1e-9);
}

TEST(Capacity, DoesNotGrowWhereTheAllowanceWasNotUsed) {
  CapacityEstimate c(1000, 50);
  c.on_window(used_fully(1, 900));
  EXPECT_DOUBLE_EQ(c.value(), 1000);
}

TEST(Capacity, RoomLeftFreeOnPurposeDoesNotBlockGrowth) {
  CapacityEstimate c(1000, 50);
  c.set_known(true);
  auto w = used_fully(1, 900);
  w.room = 0.1;
  c.on_window(w);
  EXPECT_GT(c.value(), 1000);
}

// Seconds until `estimate` has grown from 1,000 to 1,700 where all that is allowed is sent and delivered.
int seconds_to_grow(CapacityEstimate& estimate, double from_t) {
  estimate.set(1000);
  estimate.note_queue(from_t);
  int seconds = 0;
  while (estimate.value() < 1700 && seconds < 1000) {
    ++seconds;
    estimate.on_window({.t = from_t + seconds, .sent_earlier = estimate.value(), .counts = false});
  }
  return seconds;
}

CapacityEstimate estimate_that_delivered(double rate, double pressure = 0) {
  CapacityEstimate estimate(rate, 50);
  estimate.set_known(true);
  for (int t = 1; t <= 3; ++t) {
    estimate.on_window(
        {.t = t * 1.0, .delivered = rate, .sent_earlier = rate, .saturated = true, .pressure = pressure});
  }
  return estimate;
}

TEST(Capacity, ReturnsSoonerToWhatWasDeliveredNotLongAgo) {
  CapacityEstimate never = estimate_that_delivered(1000);
  CapacityEstimate lately = estimate_that_delivered(2000);
  EXPECT_LT(seconds_to_grow(lately, 800), 0.7 * seconds_to_grow(never, 800));
}

TEST(Capacity, ForgetsAfterFifteenMinutesWhatWasDelivered) {
  CapacityEstimate never = estimate_that_delivered(1000);
  CapacityEstimate once = estimate_that_delivered(2000);
  EXPECT_EQ(seconds_to_grow(once, 904), seconds_to_grow(never, 904));
}

TEST(Capacity, WhatWasDeliveredOverTheCeilingIsNotWorthReturningTo) {
  CapacityEstimate never = estimate_that_delivered(1000);
  CapacityEstimate over = estimate_that_delivered(2000, 1.2);
  EXPECT_EQ(seconds_to_grow(over, 800), seconds_to_grow(never, 800));
}

TEST(Capacity, DoesNotGrowUnderPressure) {
  CapacityEstimate c(1000, 50);
  auto w = used_fully(1, 1000);
  w.pressure = 0.5;
  c.on_window(w);
  EXPECT_DOUBLE_EQ(c.value(), 1000);
}

TEST(Capacity, IsAtLeastWhatWasDeliveredWithoutAQueue) {
  CapacityEstimate c(130, 50);
  c.set_known(true);
  for (int t = 1; t <= 3; ++t) c.on_window(used_fully(t, 250));
  EXPECT_GT(c.value(), 215) << "live alone is 250/s, and all is well";
  EXPECT_LT(c.value(), 250);
}

TEST(Capacity, NoiseOfCountingDoesNotRaiseIt) {
  CapacityEstimate c(1000, 50);
  c.set_known(true);
  for (int t = 1; t <= 3; ++t) c.on_window({.t = t * 1.0, .delivered = 1060, .sent_earlier = 900});
  EXPECT_DOUBLE_EQ(c.value(), 1000);
}

TEST(Capacity, WhatWasDeliveredUnderPressureDoesNotRaiseIt) {
  CapacityEstimate c(130, 50);
  c.set_known(true);
  for (int t = 1; t <= 3; ++t) {
    auto w = used_fully(t, 250);
    w.pressure = 0.5;
    c.on_window(w);
  }
  EXPECT_DOUBLE_EQ(c.value(), 130);
}

TEST(Capacity, OneBadWindowNeverLowersIt) {
  CapacityEstimate c(2000, 50);
  c.set_known(true);
  for (int t = 1; t <= 3; ++t) c.on_window({.t = t * 1.0, .delivered = 2000, .sent_earlier = 2000, .saturated = true});
  const double before = c.value();
  c.on_window({.t = 4, .delivered = 600, .sent_earlier = 2000, .saturated = true, .pressure = 3});
  EXPECT_GE(c.value(), before - 1e-9);
}

TEST(Capacity, OneBadWindowAfterAGapNeverLowersIt) {
  CapacityEstimate c(2000, 50);
  c.set_known(true);
  c.forget_samples();
  c.on_window({.t = 1, .delivered = 600, .sent_earlier = 2000, .saturated = true, .pressure = 3});
  EXPECT_DOUBLE_EQ(c.value(), 2000);
}

TEST(Capacity, TwoWindowsThatAgreeTakeARealDropWhole) {
  CapacityEstimate c(2000, 50);
  c.set_known(true);
  c.on_window({.t = 1, .delivered = 1400, .sent_earlier = 2000, .saturated = true, .pressure = 2});
  c.on_window({.t = 2, .delivered = 1390, .sent_earlier = 2000, .saturated = true, .pressure = 2});
  EXPECT_DOUBLE_EQ(c.value(), 1400);
}

TEST(Capacity, AQueueWhileWeHeldBackSaysNothing) {
  CapacityEstimate c(2000, 50);
  c.set_known(true);
  for (int t = 1; t <= 3; ++t) c.on_window({.t = t * 1.0, .delivered = 1500, .sent_earlier = 1500, .saturated = true});
  EXPECT_DOUBLE_EQ(c.value(), 2000) << "delivered what was offered, and less than C was offered";
}

TEST(Capacity, NeverFallsBelowItsFloor) {
  CapacityEstimate c(100, 50);
  c.set_known(true);
  for (int t = 1; t < 30; ++t) {
    c.on_window({.t = t * 1.0, .delivered = 1, .sent_earlier = 100, .saturated = true, .pressure = 5});
  }
  EXPECT_DOUBLE_EQ(c.value(), 50);
}

TEST(Trim, FallsOnlyWhenThePressureLastsTwoWindows) {
  Trim trim;
  EXPECT_DOUBLE_EQ(trim.on_window(0.9, 1), 1);
  EXPECT_DOUBLE_EQ(trim.on_window(0.9, 1), 0.85);
  EXPECT_DOUBLE_EQ(trim.on_window(0.7, 1), 0.85) << "between the two nothing moves";
  EXPECT_NEAR(trim.on_window(0.1, 1), 0.85 * 1.03, 1e-12);
}

TEST(Trim, StaysWithinItsBounds) {
  Trim trim;
  for (int i = 0; i < 100; ++i) trim.on_window(2, 1);
  EXPECT_DOUBLE_EQ(trim.value(), 0.1);
  for (int i = 0; i < 1000; ++i) trim.on_window(0, 1);
  EXPECT_DOUBLE_EQ(trim.value(), 1);
}

ToleranceHeadroom::Window over(double t, bool is_over) {
  return {.t = t, .completions = 2000, .delivered = 2000, .sent_earlier = 2000, .over_ceiling = is_over};
}

TEST(Tolerance, BuysHeadroomForTimeOverTheCeilingAndGivesItBack) {
  ToleranceHeadroom h;
  h.on_window(over(1, true));
  EXPECT_NEAR(h.value(), 0.005 * 0.984, 1e-12);
  for (int t = 2; t <= 60; ++t) h.on_window(over(t, false));
  EXPECT_GT(h.value(), 0);
  for (int t = 61; t <= 65; ++t) h.on_window(over(t, false));
  EXPECT_NEAR(h.value(), 0, 1e-12) << "1.6 % of the time, eight tenths of what is tolerated";
}

TEST(Tolerance, APauseThatLoadDidNotCauseBuysNothing) {
  ToleranceHeadroom h;
  h.on_window({.t = 1, .completions = 1000, .delivered = 1000, .sent_earlier = 2000, .over_ceiling = true});
  h.on_window(over(3, true));
  EXPECT_DOUBLE_EQ(h.value(), 0);
  h.on_window(over(5, true));
  EXPECT_GT(h.value(), 0) << "three seconds later it is load again";
}

TEST(Tolerance, WhereOnlyLiveIsSentNoRoomIsBought) {
  ToleranceHeadroom h;
  auto live_alone = over(1, true);
  live_alone.backlog_sends = false;
  h.on_window(live_alone);
  EXPECT_DOUBLE_EQ(h.value(), 0);
}

TEST(Tolerance, GrowthCountsLessTheMoreHeadroomThereIs) {
  ToleranceHeadroom h;
  EXPECT_DOUBLE_EQ(h.share_of_growth(), 1);
  for (int t = 1; t <= 100; ++t) h.on_window(over(t, true));
  EXPECT_DOUBLE_EQ(h.value(), 0.3);
  EXPECT_DOUBLE_EQ(h.share_of_growth(), 0.1);
}

TEST(Predictor, CountsWhatIsAlreadyOnTheWay) {
  const QueueModel settled{.capacity = 2000, .queue = 0, .wanted_queue = 50, .sent_in_flight = 2000};
  EXPECT_DOUBLE_EQ(predicted_rate(settled), 2000 + 50 / 2.5);
  QueueModel burst = settled;
  burst.sent_in_flight = 2500;
  EXPECT_DOUBLE_EQ(predicted_rate(burst), 2000 + (50 - 500) / 2.5);
}

TEST(Predictor, NeverTakesASeenQueueForGone) {
  const QueueModel m{.capacity = 2000, .queue = 100, .wanted_queue = 0, .sent_in_flight = 0, .saturated = true};
  EXPECT_DOUBLE_EQ(predicted_queue(m), 20);
}

TEST(ErrorCause, ErrorsThatStayAfterTwoCutsAreNotCausedByLoad) {
  ErrorCause cause;
  cause.on_window({.t = 0, .error_ratio = 0.05, .error_ceiling = 0.02, .load = 2000});
  cause.on_window({.t = 3, .error_ratio = 0.05, .error_ceiling = 0.02, .load = 1800});
  EXPECT_FALSE(cause.independent_of_load());
  cause.on_window({.t = 6, .error_ratio = 0.05, .error_ceiling = 0.02, .load = 1700});
  EXPECT_TRUE(cause.independent_of_load());
}

TEST(ErrorCause, ErrorsThatFallWithTheLoadAreCausedByIt) {
  ErrorCause cause;
  cause.on_window({.t = 0, .error_ratio = 0.10, .error_ceiling = 0.02, .load = 2000});
  cause.on_window({.t = 3, .error_ratio = 0.05, .error_ceiling = 0.02, .load = 1800});
  cause.on_window({.t = 6, .error_ratio = 0.05, .error_ceiling = 0.02, .load = 1800});
  EXPECT_FALSE(cause.independent_of_load());
}

TEST(ErrorCause, ASlowServiceIsNeverExcused) {
  ErrorCause cause;
  for (int t = 0; t < 30; t += 3) {
    cause.on_window({.t = t * 1.0, .error_ratio = 0.05, .error_ceiling = 0.02, .load = 2000.0 - 50 * t, .slow = true});
  }
  EXPECT_FALSE(cause.independent_of_load());
}

TEST(ErrorCause, IsJudgedAnewWhenErrorsRiseOrGo) {
  const auto twice_without_effect = [](ErrorCause& cause) {
    for (int t = 0; t <= 6; t += 3) {
      cause.on_window({.t = t * 1.0, .error_ratio = 0.05, .error_ceiling = 0.02, .load = 2000.0 - 50 * t});
    }
  };
  ErrorCause rising;
  twice_without_effect(rising);
  rising.on_window({.t = 9, .error_ratio = 0.08, .error_ceiling = 0.02, .load = 2000});
  EXPECT_FALSE(rising.independent_of_load());
  ErrorCause gone;
  twice_without_effect(gone);
  gone.on_window({.t = 9, .error_ratio = 0.0, .error_ceiling = 0.02, .load = 2000});
  EXPECT_FALSE(gone.independent_of_load());
}

BaseShift::Window shifted(double t, double load, double wait = 0.02) {
  return {.t = t, .queue_wait_s = wait, .load = load, .capacity = 2000, .pressure = 0.3, .saturated = true};
}

TEST(BaseShift, AQueueThatDoesNotShrinkWhenLessIsSentIsNotOurs) {
  BaseShift shift;
  EXPECT_FALSE(shift.on_window(shifted(0, 2000)));
  EXPECT_FALSE(shift.on_window(shifted(1, 1800)));
  EXPECT_FALSE(shift.on_window(shifted(3, 1800)));
  EXPECT_TRUE(shift.on_window(shifted(3.5, 1800)));
}

TEST(BaseShift, AQueueThatShrinksIsOurs) {
  BaseShift shift;
  shift.on_window(shifted(0, 2000));
  for (int t = 1; t < 20; ++t) EXPECT_FALSE(shift.on_window(shifted(t, 1800, 0.015)));
}

TEST(BaseShift, NothingIsRelearntUnderPressure) {
  BaseShift shift;
  shift.on_window(shifted(0, 2000));
  for (int t = 1; t < 20; ++t) {
    auto w = shifted(t, 1800);
    w.pressure = 0.9;
    EXPECT_FALSE(shift.on_window(w));
  }
}

TEST(ThrottleBound, HoldsForAsLongAsItWasAsked) {
  ThrottleBound bound;
  EXPECT_EQ(bound.at(0), std::nullopt);
  bound.on_request(10, 2, 1500);
  EXPECT_EQ(bound.at(11.9), 1500);
  EXPECT_EQ(bound.at(12), std::nullopt);
}

TEST(ThrottleBound, ALaterRequestDoesNotLoosenIt) {
  ThrottleBound bound;
  bound.on_request(10, 5, 1500);
  bound.on_request(11, 1, 1900);
  EXPECT_EQ(bound.at(14), 1500);
}

class Validation : public testing::Test {
 protected:
  SampleValidator validator_{SignalSpec{.name = "bank"}};

  SignalSample sample(double t) {
    SignalSample s;
    s.covers_until = at(t);
    s.completions = 1000;
    s.good = 1000;
    s.mean_s = 0.05 + t * 1e-6;
    s.p99_s = 0.2;
    return s;
  }
  Missing judge(double now, const SignalSample& s, double sent = 1000, double base = 0.05) {
    return validator_.judge(at(now), s, sent, base);
  }
};

TEST_F(Validation, ASoundSampleIsPresent) { EXPECT_EQ(judge(1, sample(1)), Missing::kNone); }

TEST_F(Validation, NaNInfinityAndNegativeValuesAreMissing) {
  auto s = sample(1);
  s.mean_s = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judge(1, s), Missing::kNotANumber);
  s = sample(1);
  s.p99_s = std::numeric_limits<double>::infinity();
  EXPECT_EQ(judge(1, s), Missing::kNotANumber);
  s = sample(1);
  s.completions = -1;
  EXPECT_EQ(judge(1, s), Missing::kNotANumber);
  s = sample(1);
  s.good = 2000;
  EXPECT_EQ(judge(1, s), Missing::kNotANumber) << "more good ones than there were";
}

TEST_F(Validation, TimeThatGoesBackIsMissing) {
  EXPECT_EQ(judge(5, sample(5)), Missing::kNone);
  EXPECT_EQ(judge(6, sample(4)), Missing::kBackInTime);
}

TEST_F(Validation, WhatCoversTooOldATimeIsMissing) { EXPECT_EQ(judge(4.5, sample(1)), Missing::kTooOld); }

TEST_F(Validation, ASourceOfWhichNothingMovesIsMissing) {
  auto s = sample(1);
  s.completions = 0;
  s.good = 0;
  s.mean_s.reset();
  s.p99_s.reset();
  s.source_moved = false;
  EXPECT_EQ(judge(1, s), Missing::kFrozen);
}

TEST_F(Validation, TheSameFiguresAgainAreMissing) {
  auto s = sample(1);
  EXPECT_EQ(judge(1, s), Missing::kNone);
  s.covers_until = at(2);
  EXPECT_EQ(judge(2, s), Missing::kFrozen);
}

TEST_F(Validation, ZeroCompletionsCountOnlyWhereTheSourceLivesAndMuchWasSent) {
  auto s = sample(1);
  s.completions = 0;
  s.good = 0;
  s.mean_s.reset();
  s.p99_s.reset();
  EXPECT_EQ(judge(1, s, 20), Missing::kNone);
  s.covers_until = at(2);
  EXPECT_EQ(judge(2, s, 19), Missing::kIdle);
}

TEST_F(Validation, AMeanFarBelowItsBaseIsAWrongUnit) {
  auto s = sample(1);
  s.mean_s = 0.05 / 1000;
  EXPECT_EQ(judge(1, s), Missing::kImplausible);
}

}  // namespace
}  // namespace spillway::governor
