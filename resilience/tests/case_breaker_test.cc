#include <gtest/gtest.h>

#include "breaker_probe.h"
#include "spillway/resilience/bulkhead.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

BreakerSettings count_window(std::uint32_t size, std::uint32_t minimum, std::uint32_t percent) {
  return {.window_size = size,
          .minimum_calls = minimum,
          .failure_rate_percent = percent,
          .open_wait = milliseconds(5000),
          .trials = 4};
}

BreakerSettings trials(std::uint32_t n) {
  BreakerSettings settings = count_window(4, 4, 50);
  settings.trials = n;
  return settings;
}

// Opened at t=0; the first trial may start at t=5000.
void open(CircuitBreaker& breaker) {
  play(breaker, "FFFF", ms(0));
  ASSERT_EQ(breaker.state(), BreakerState::kOpen);
}

TEST(ResilienceCase, S01_StaysClosedBelowTheMinimumAndOpensAtSixtyPercent) {
  EventQueue events;
  CircuitBreaker breaker(count_window(10, 5, 50), ms(0), &events);
  play(breaker, "FFFS", ms(1));
  EXPECT_EQ(breaker.state(), BreakerState::kClosed);
  EXPECT_FALSE(breaker.rates(ms(1)).failure_percent.has_value());

  play(breaker, "S", ms(2));
  EXPECT_EQ(breaker.state(), BreakerState::kOpen);
  EXPECT_EQ(breaker.rates(ms(2)).failure_percent, 60.0);
  EXPECT_EQ(count(drained(events), EventKind::kBreakerOpened), 1u);
}

TEST(ResilienceCase, S02_OpensAtTheThresholdInclusive) {
  CircuitBreaker breaker(count_window(4, 4, 50), ms(0));
  play(breaker, "SSF", ms(0));
  EXPECT_EQ(breaker.state(), BreakerState::kClosed);
  play(breaker, "F", ms(0));
  EXPECT_EQ(breaker.state(), BreakerState::kOpen);
}

TEST(ResilienceCase, S03_EffectiveMinimumIsNoLargerThanTheWindow) {
  CircuitBreaker breaker(count_window(5, 100, 50), ms(0));
  play(breaker, "FFFF", ms(0));
  EXPECT_EQ(breaker.state(), BreakerState::kClosed);
  play(breaker, "F", ms(0));
  EXPECT_EQ(breaker.state(), BreakerState::kOpen);
}

TEST(ResilienceCase, S04_OldCallsLeaveTheCountWindow) {
  CircuitBreaker breaker(count_window(4, 4, 75), ms(0));
  const std::pair<const char*, double> steps[] = {{"FFSS", 50}, {"S", 25}, {"F", 25}, {"F", 50}};
  for (const auto& [calls, percent] : steps) {
    play(breaker, calls, ms(0));
    EXPECT_EQ(breaker.state(), BreakerState::kClosed);
    EXPECT_EQ(breaker.rates(ms(0)).failure_percent, percent) << calls;
  }
  play(breaker, "F", ms(0));
  EXPECT_EQ(breaker.state(), BreakerState::kOpen);
  EXPECT_EQ(breaker.rates(ms(0)).failure_percent, 75.0);
}

BreakerSettings slow_over_4000() {
  BreakerSettings settings = count_window(5, 5, 100);
  settings.slow_threshold = milliseconds(4000);
  settings.slow_rate_percent = 50;
  return settings;
}

TEST(ResilienceCase, S05_OpensOnTheSlowRate) {
  CircuitBreaker breaker(slow_over_4000(), ms(0));
  for (const int took : {5000, 5000, 100, 100}) play(breaker, "S", ms(0), milliseconds(took));
  EXPECT_EQ(breaker.state(), BreakerState::kClosed);
  play(breaker, "S", ms(0), milliseconds(5000));
  EXPECT_EQ(breaker.state(), BreakerState::kOpen);
  EXPECT_EQ(breaker.rates(ms(0)).slow_percent, 60.0);
  EXPECT_EQ(breaker.rates(ms(0)).failure_percent, 0.0);
}

TEST(ResilienceCase, S06_EqualToTheSlowThresholdIsNotSlow) {
  CircuitBreaker breaker(slow_over_4000(), ms(0));
  play(breaker, "S", ms(0), milliseconds(4000));
  EXPECT_EQ(breaker.rates(ms(0)).counts.slow, 0u);
  play(breaker, "S", ms(0), milliseconds(4001));
  EXPECT_EQ(breaker.rates(ms(0)).counts.slow, 1u);
}

TEST(ResilienceCase, S07_RefusesUntilTheWaitIsOverInclusive) {
  CircuitBreaker breaker(trials(2), ms(0));
  open(breaker);
  for (const int t : {3000, 4999}) {
    const auto refused = breaker.try_acquire(ms(t));
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.cause, Cause::kBreakerOpen);
  }
  EXPECT_EQ(breaker.counters().not_permitted, 2u);
  EXPECT_EQ(breaker.state(), BreakerState::kOpen);

  const auto trial = breaker.try_acquire(ms(5000));
  EXPECT_TRUE(trial);
  EXPECT_EQ(breaker.state(), BreakerState::kHalfOpen);
  EXPECT_EQ(breaker.rates(ms(5000)).counts.total, 0u);
}

TEST(ResilienceCase, S08_DecidesAfterAllTrialsAndClosesWithAnEmptyWindow) {
  CircuitBreaker breaker(trials(4), ms(0));
  open(breaker);
  play(breaker, "FFS", ms(5000));
  EXPECT_EQ(breaker.state(), BreakerState::kHalfOpen);
  play(breaker, "F", ms(5000));
  EXPECT_EQ(breaker.state(), BreakerState::kOpen);
  EXPECT_EQ(breaker.rates(ms(5000)).failure_percent, 75.0);

  play(breaker, "FSSS", ms(10000));
  EXPECT_EQ(breaker.state(), BreakerState::kClosed);
  EXPECT_EQ(breaker.rates(ms(10000)).counts.total, 0u);
  play(breaker, "S", ms(10000));
  EXPECT_EQ(breaker.rates(ms(10000)).counts.total, 1u);
}

TEST(ResilienceCase, S09_NoMoreTrialsInFlightThanAllowed) {
  CircuitBreaker breaker(trials(4), ms(0));
  open(breaker);
  std::vector<CircuitBreaker::Admission> running;
  for (int i = 0; i < 4; ++i) running.push_back(breaker.try_acquire(ms(5000)));
  for (const auto& trial : running) EXPECT_TRUE(trial);
  for (int i = 0; i < 2; ++i) {
    const auto refused = breaker.try_acquire(ms(5000));
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.cause, Cause::kBreakerTrialsTaken);
  }
  EXPECT_EQ(breaker.counters().not_permitted, 2u);
  EXPECT_EQ(breaker.state(), BreakerState::kHalfOpen);
}

TEST(ResilienceCase, S10_AnIgnoredTrialGivesItsPermitBack) {
  CircuitBreaker breaker(trials(4), ms(0));
  open(breaker);
  play(breaker, "SSSI", ms(5000));
  EXPECT_EQ(breaker.state(), BreakerState::kHalfOpen);
  EXPECT_EQ(breaker.rates(ms(5000)).counts.total, 3u);
  EXPECT_EQ(breaker.trials_free(), 1u);
  play(breaker, "F", ms(5000));
  EXPECT_EQ(breaker.state(), BreakerState::kClosed);
}

TEST(ResilienceCase, S12_SlowTrialsOpenAgain) {
  BreakerSettings settings = trials(4);
  settings.slow_rate_percent = 50;
  settings.slow_threshold = milliseconds(4000);
  CircuitBreaker breaker(settings, ms(0));
  open(breaker);
  play(breaker, "SSS", ms(5000), milliseconds(5000));
  play(breaker, "S", ms(5000));
  EXPECT_EQ(breaker.state(), BreakerState::kOpen);
  EXPECT_EQ(breaker.rates(ms(5000)).failure_percent, 0.0);
  EXPECT_EQ(breaker.rates(ms(5000)).slow_percent, 75.0);
}

TEST(ResilienceCase, S13_LateFailuresDoNotExtendTheWait) {
  EventQueue events;
  CircuitBreaker breaker(trials(4), ms(0), &events);
  std::vector<CircuitBreaker::Admission> running;
  for (int i = 0; i < 60; ++i) running.push_back(breaker.try_acquire(ms(50)));
  play(breaker, "FFFF", ms(100));
  ASSERT_EQ(breaker.state(), BreakerState::kOpen);
  for (int i = 0; i < 60; ++i) {
    const Instant end = ms(100 + 65 * (i + 1));
    running[static_cast<std::size_t>(i)].permit.record(Outcome::kFailure, end - ms(50), end);
  }
  EXPECT_EQ(count(drained(events), EventKind::kBreakerOpened), 1u);
  EXPECT_EQ(breaker.counters().stale, 60u);
  EXPECT_TRUE(breaker.try_acquire(ms(5100)));
}

TEST(ResilienceCase, S14_AnOutcomeOfAnOlderGenerationDecidesNothing) {
  CircuitBreaker breaker(trials(1), ms(0));
  auto a = breaker.try_acquire(ms(0));
  play(breaker, "FFFF", ms(10));
  auto probe = breaker.try_acquire(ms(5010));
  ASSERT_EQ(breaker.state(), BreakerState::kHalfOpen);
  a.permit.record(Outcome::kSuccess, milliseconds(5020), ms(5020));
  EXPECT_EQ(breaker.state(), BreakerState::kHalfOpen);
  probe.permit.record(Outcome::kFailure, milliseconds(20), ms(5030));
  EXPECT_EQ(breaker.state(), BreakerState::kOpen);
}

BreakerSettings time_window() {
  return {.window = WindowKind::kTime, .window_size = 10, .minimum_calls = 3, .failure_rate_percent = 50};
}

TEST(ResilienceCase, S18_TheTimeWindowForgetsWholeSeconds) {
  CircuitBreaker breaker(time_window(), ms(0));
  play(breaker, "FF", ms(100));
  EXPECT_EQ(breaker.rates(ms(9900)).counts.total, 2u);
  play(breaker, "S", ms(10500));
  EXPECT_EQ(breaker.rates(ms(10500)).counts.total, 1u);
  EXPECT_EQ(breaker.state(), BreakerState::kClosed);
}

TEST(ResilienceCase, S19_IdleTimeCostsNoMoreThanTheBuckets) {
  CircuitBreaker breaker(time_window(), ms(0));
  play(breaker, "FF", ms(0));
  play(breaker, "F", ms(1'000'000));
  EXPECT_EQ(breaker.rates(ms(1'000'000)).counts.total, 1u);
  // Seconds enough that a step per second would take years.
  const Instant far = Instant::max() - seconds(1);
  play(breaker, "F", far);
  EXPECT_EQ(breaker.rates(far).counts.total, 1u);
  EXPECT_EQ(breaker.state(), BreakerState::kClosed);
}

TEST(ResilienceCase, S20_ForcedOpenDisabledAndMetricsOnly) {
  EventQueue events;
  CircuitBreaker breaker(count_window(4, 4, 50), ms(0), &events);
  breaker.force_open(ms(0));
  for (const int t : {1, 5000, 1'000'000}) {
    EXPECT_EQ(breaker.try_acquire(ms(t)).cause, Cause::kBreakerForcedOpen);
  }

  breaker.disable(ms(0));
  play(breaker, "FFFFFFFF", ms(0));
  EXPECT_EQ(breaker.state(), BreakerState::kDisabled);
  EXPECT_EQ(breaker.rates(ms(0)).counts.total, 0u);

  breaker.metrics_only(ms(0));
  drained(events);
  play(breaker, "FFFFFFFF", ms(0));
  EXPECT_EQ(breaker.state(), BreakerState::kMetricsOnly);
  EXPECT_EQ(breaker.rates(ms(0)).failure_percent, 100.0);
  const auto told = drained(events);
  EXPECT_EQ(told.size(), 1u);
  EXPECT_EQ(count(told, EventKind::kBreakerRateExceeded), 1u);
}

TEST(ResilienceCase, S21_IgnoredOutcomesCountForNothing) {
  CircuitBreaker breaker(count_window(10, 3, 60), ms(0));
  for (int i = 0; i < 5; ++i) play(breaker, "SFI", ms(0));
  EXPECT_EQ(breaker.state(), BreakerState::kClosed);
  EXPECT_EQ(breaker.rates(ms(0)).counts.total, 10u);
  EXPECT_EQ(breaker.counters().ignored, 5u);
}

TEST(Breaker, AClockThatGoesBackNeitherReopensNorRotatesTheWindow) {
  CircuitBreaker breaker(time_window(), ms(5000));
  play(breaker, "F", ms(8000));
  play(breaker, "S", ms(1000), milliseconds(-3));
  EXPECT_EQ(breaker.rates(ms(0)).counts.total, 2u);
  EXPECT_EQ(breaker.rates(ms(8000)).counts.slow, 0u);
}

}  // namespace
}  // namespace spillway::resilience
