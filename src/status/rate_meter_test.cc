#include "status/rate_meter.h"

#include <gtest/gtest.h>

namespace spillway::status {
namespace {

using namespace std::chrono_literals;

base::Instant at(base::Duration t) { return base::Instant{} + t; }

TEST(RateMeter, SaysNothingBeforeASecondOfHistory) {
  RateMeter meter;
  EXPECT_FALSE(meter.per_second(at(0s)));
  meter.observe(at(0s), 0);
  meter.observe(at(900ms), 900);
  EXPECT_FALSE(meter.per_second(at(999ms)));
  EXPECT_TRUE(meter.per_second(at(1s)));
}

TEST(RateMeter, IsTheGrowthOverTenSeconds) {
  RateMeter meter;
  // 1000/s for 20 s, then 3000/s for 20 s.
  std::int64_t total = 0;
  for (int tick = 0; tick <= 400; ++tick) {
    meter.observe(at(tick * 100ms), total);
    if (tick == 200) {
      EXPECT_NEAR(*meter.per_second(at(20s)), 1000, 1);
    }
    if (tick == 250) {
      EXPECT_NEAR(*meter.per_second(at(25s)), 2000, 50);
    }
    total += tick < 200 ? 100 : 300;
  }
  EXPECT_NEAR(*meter.per_second(at(40s)), 3000, 1);
}

TEST(RateMeter, FallsToZeroWhenNobodyFeedsIt) {
  RateMeter meter;
  meter.observe(at(0s), 0);
  meter.observe(at(5s), 5000);
  EXPECT_NEAR(*meter.per_second(at(5s)), 1000, 1);
  EXPECT_NEAR(*meter.per_second(at(10s)), 500, 1);
  EXPECT_EQ(*meter.per_second(at(16s)), 0);
}

TEST(RateMeter, StartsAgainWhenTheTotalGoesBack) {
  RateMeter meter;
  meter.observe(at(0s), 1'000'000);
  meter.observe(at(5s), 1'000'100);
  meter.observe(at(6s), 3);
  EXPECT_FALSE(meter.per_second(at(6500ms)));
  meter.observe(at(8s), 203);
  EXPECT_NEAR(*meter.per_second(at(8s)), 100, 1);
}

TEST(RateMeter, TakesAClockThatWentBackAsNoTime) {
  RateMeter meter;
  meter.observe(at(10s), 0);
  meter.observe(at(5s), 50);
  EXPECT_FALSE(meter.per_second(at(5s)));
}

}  // namespace
}  // namespace spillway::status
