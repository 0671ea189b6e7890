#include "status/latency_trend.h"

#include <gtest/gtest.h>

#include <functional>

namespace spillway::status {
namespace {

base::Instant at(double s) {
  return base::Instant{} + std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(s));
}

// The climb after `seconds` in which p99 was what `p99_at` says.
std::optional<double> climb_of(int seconds, int every, const std::function<double(int)>& p99_at) {
  LatencyTrend trend;
  for (int s = 0; s <= seconds; s += every) trend.observe(at(s), p99_at(s));
  return trend.climb(at(seconds));
}

TEST(LatencyTrend, SeesAClimbThatLastsThreeMinutes) {
  const auto climb = climb_of(300, 1, [](int s) { return 100.0 + s; });
  ASSERT_TRUE(climb);
  EXPECT_NEAR(*climb, 370.0 / 250.0, 0.01);
  EXPECT_TRUE(climb_of(300, 5, [](int s) { return 100.0 + s; })) << "also of a signal that comes every 5 s";
}

TEST(LatencyTrend, AStepIsNoClimb) {
  for (int length = 100; length < 400; length += 7) {
    EXPECT_FALSE(climb_of(length, 1, [](int s) { return s < 100 ? 80.0 : 300.0; })) << length;
  }
}

TEST(LatencyTrend, NoiseAndAFallAreNone) {
  EXPECT_FALSE(climb_of(300, 1, [](int s) { return 200.0 + (s * 7919) % 41; }));
  EXPECT_FALSE(climb_of(300, 1, [](int s) { return 500.0 - s; }));
  EXPECT_FALSE(climb_of(300, 1, [](int s) { return s < 200 ? 100.0 + s : 150.0; }));
}

TEST(LatencyTrend, SaysNothingBeforeThreeMinutesAreKnown) {
  EXPECT_FALSE(climb_of(120, 1, [](int s) { return 100.0 + s; }));
  LatencyTrend trend;
  for (int s = 0; s <= 300; ++s) trend.observe(at(s), 100.0 + s);
  EXPECT_TRUE(trend.climb(at(300)));
  EXPECT_FALSE(trend.climb(at(360))) << "a signal that fell silent";
}

}  // namespace
}  // namespace spillway::status
