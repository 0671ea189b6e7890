#include <gtest/gtest.h>

#include "spillway/resilience/backoff.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ResilienceCase, S22_FullJitterHalvesEachCeiling) {
  const BackoffSettings settings{.base = milliseconds(100), .factor = 2, .cap = milliseconds(1000)};
  Backoff backoff(settings);
  for (const int expected : {50, 100, 200, 400, 500, 500}) {
    EXPECT_EQ(backoff.next([] { return 0.5; }), milliseconds(expected));
  }
  backoff.reset();
  EXPECT_EQ(backoff.next([] { return 0.5; }), milliseconds(50));
}

TEST(ResilienceCase, S23_DelaysStayBetweenZeroAndTheCapForEveryRetry) {
  const BackoffSettings settings{.base = milliseconds(100), .factor = 2, .cap = seconds(300)};
  for (std::uint32_t k = 1; k <= 10'000; ++k) {
    for (const double u : {0.0, 0.5, 0.999999}) {
      const Duration delay = backoff_delay(settings, k, u);
      ASSERT_GE(delay, Duration::zero()) << k;
      ASSERT_LE(delay, settings.cap) << k;
    }
  }
  const BackoffSettings large{.base = seconds(2), .factor = 2, .cap = seconds(300)};
  EXPECT_EQ(backoff_ceiling(large, 1024), seconds(300));
  EXPECT_EQ(backoff_ceiling(large, 2000), seconds(300));
}

}  // namespace
}  // namespace spillway::resilience
