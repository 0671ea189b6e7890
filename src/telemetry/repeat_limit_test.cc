#include "telemetry/repeat_limit.h"

#include <gtest/gtest.h>

namespace spillway::telemetry {
namespace {

using namespace std::chrono_literals;

TEST(RepeatLimit, LetsTheFirstFewPassAndCountsTheRest) {
  RepeatLimit limit(2, 10s);
  const base::Instant start{};
  EXPECT_TRUE(limit.ask("a", start).pass);
  EXPECT_TRUE(limit.ask("a", start + 1s).pass);
  EXPECT_FALSE(limit.ask("a", start + 2s).pass);
  EXPECT_FALSE(limit.ask("a", start + 9999ms).pass);
  EXPECT_TRUE(limit.ask("b", start + 2s).pass);
  const auto next = limit.ask("a", start + 10s);
  EXPECT_TRUE(next.pass);
  EXPECT_EQ(next.suppressed, 2u);
  EXPECT_EQ(limit.ask("a", start + 11s).suppressed, 0u);
}

TEST(RepeatLimit, HoldsABoundedNumberOfMessages) {
  RepeatLimit limit(1, 10s);
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(limit.ask(std::to_string(i), base::Instant{} + i * 1ms).pass);
}

}  // namespace
}  // namespace spillway::telemetry
