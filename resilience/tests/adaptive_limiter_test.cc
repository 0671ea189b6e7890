#include "spillway/resilience/adaptive_limiter.h"

#include <gtest/gtest.h>

#include "breaker_probe.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;

// One window of `calls` at once, each taking `took`; returns when it ended.
Instant window(AdaptiveLimiter& limiter, Instant start, std::uint32_t calls, Duration took,
               Outcome outcome = Outcome::kSuccess) {
  std::vector<AdaptiveLimiter::Permit> permits;
  for (std::uint32_t i = 0; i < calls; ++i) permits.push_back(limiter.try_acquire(start));
  const Instant end = start + std::max<Duration>(took, milliseconds(500));
  for (auto& permit : permits) {
    // Ends after `took`, however long the window is.
    if (permit) permit.record(outcome, &permit == &permits.back() && took < milliseconds(500) ? end : start + took);
  }
  return end;
}

AdaptiveLimitSettings aimd() {
  return {.rule = LimitRule::kAimd, .initial = 10, .window = milliseconds(100), .minimum_samples = 5, .decrease = 0.5};
}

TEST(AdaptiveLimiter, RefusesBeyondTheLimit) {
  AdaptiveLimiter limiter({.initial = 2}, ms(0));
  auto first = limiter.try_acquire(ms(0)), second = limiter.try_acquire(ms(0));
  EXPECT_FALSE(limiter.try_acquire(ms(0)));
  EXPECT_EQ(limiter.refused(), 1u);
  second.drop();
  EXPECT_TRUE(limiter.try_acquire(ms(0)));
}

TEST(AdaptiveLimiter, AimdAddsOneWhileUsedAndMultipliesDownOnFailure) {
  AdaptiveLimiter limiter(aimd(), ms(0));
  Instant now = window(limiter, ms(0), 10, milliseconds(100));
  EXPECT_EQ(limiter.limit(), 11u);
  now = window(limiter, now, 5, milliseconds(100));
  EXPECT_EQ(limiter.limit(), 11u) << "an unused limit does not grow";
  window(limiter, now, 5, milliseconds(100), Outcome::kFailure);
  EXPECT_EQ(limiter.limit(), 5u);
}

TEST(AdaptiveLimiter, TheGradientLowersTheLimitAndFreezesTheBaselineUnderOverload) {
  AdaptiveLimiter limiter({.initial = 16, .window = milliseconds(100), .minimum_samples = 5}, ms(0));
  Instant now = window(limiter, ms(0), 16, milliseconds(600));
  const Duration baseline = limiter.baseline();
  EXPECT_EQ(baseline, milliseconds(600));
  EXPECT_EQ(limiter.limit(), 20u);

  for (int i = 0; i < 50; ++i) now = window(limiter, now, limiter.limit(), milliseconds(6000));
  EXPECT_EQ(limiter.baseline(), baseline);
  EXPECT_LE(limiter.limit(), 8u);
  EXPECT_GE(limiter.limit(), 1u);

  for (int i = 0; i < 50; ++i) now = window(limiter, now, std::max(5u, limiter.limit()), milliseconds(600));
  EXPECT_GE(limiter.limit(), 4u);
}

TEST(AdaptiveLimiter, TellsWhenTheLimitChanges) {
  EventQueue events;
  AdaptiveLimiter limiter(aimd(), ms(0), &events);
  window(limiter, ms(0), 10, milliseconds(100));
  const auto told = drained(events);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].kind, EventKind::kLimitChanged);
  EXPECT_EQ(told[0].value, 11u);
}

}  // namespace
}  // namespace spillway::resilience
