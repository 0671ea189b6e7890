#include <gtest/gtest.h>

#include "breaker_probe.h"
#include "spillway/resilience/pipeline.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RateLimiter, SpacesCallsEvenlyAndSavesNothingUp) {
  RateLimiter limiter({.calls = 10, .period = seconds(1)});
  EXPECT_TRUE(limiter.try_acquire(ms(0)));
  EXPECT_FALSE(limiter.try_acquire(ms(99)));
  EXPECT_TRUE(limiter.try_acquire(ms(100)));
  EXPECT_TRUE(limiter.try_acquire(ms(60'000)));
  EXPECT_FALSE(limiter.try_acquire(ms(60'000)));
  EXPECT_EQ(limiter.refused(), 2u);
}

TEST(RateLimiter, ABurstIsBoundedHoweverLongItWasIdle) {
  RateLimiter limiter({.calls = 10, .period = seconds(1), .burst = 3});
  for (const int start : {0, 3'600'000}) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(limiter.try_acquire(ms(start)));
    EXPECT_FALSE(limiter.try_acquire(ms(start)));
    EXPECT_TRUE(limiter.try_acquire(ms(start + 100)));
    EXPECT_FALSE(limiter.try_acquire(ms(start + 199)));
  }
}

TEST(RateLimiter, SaysHowLongToWaitAndRefusesLongerWaits) {
  RateLimiter limiter({.calls = 10, .period = seconds(1), .max_wait = milliseconds(150)});
  EXPECT_EQ(limiter.acquire(ms(0)).wait, Duration::zero());
  EXPECT_EQ(limiter.acquire(ms(0)).wait, milliseconds(100));
  const auto refused = limiter.acquire(ms(0));
  EXPECT_FALSE(refused.granted);
  EXPECT_EQ(refused.wait, milliseconds(200));
  EXPECT_EQ(limiter.acquire(ms(100)).wait, milliseconds(100)) << "a refusal took nothing";
}

TEST(RateLimiter, NeverExceedsTheRateByRounding) {
  RateLimiter limiter({.calls = 3, .period = Duration(10)});
  int granted = 0;
  for (int t = 0; t < 1000; ++t) granted += limiter.try_acquire(Instant(Duration(t)));
  EXPECT_LE(granted, 300);
}

TEST(RateLimiter, APipelineWaitsForItsTurn) {
  ManualClock clock;
  RateLimiter limiter({.calls = 10, .period = seconds(1), .max_wait = milliseconds(100)});
  const auto guarded = pipeline_on(clock, limiter);
  guarded.call([] { return 1; });
  Instant ran{};
  guarded.call([&] { return ran = clock.now(); });
  EXPECT_EQ(ran, ms(100));
  guarded.call([] { return 1; });
  const auto late = guarded.call([] { return 1; }, {.deadline = Deadline::after(clock.now(), milliseconds(50))});
  EXPECT_EQ(late.cause(), Cause::kRateLimited);
}

}  // namespace
}  // namespace spillway::resilience
