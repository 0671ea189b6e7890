#include "relay/lane_tally.h"

#include <gtest/gtest.h>

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;

TEST(LaneTallies, TheDelayOfAllIsThatOfEachAddedUp) {
  LaneTallies tallies;
  tallies.of(Flow::kLive).delay_seconds.add(1ms);
  tallies.of(Flow::kLive).delay_seconds.add(2s);
  tallies.of(Flow::kPromoted).delay_seconds.add(2s);
  tallies.of(Flow::kBacklog).delay_seconds.add(48h);
  const Histogram<16> all = tallies.delay_seconds();
  EXPECT_EQ(all.counts().front(), 1u);
  EXPECT_EQ(all.counts()[8], 2u);
  EXPECT_EQ(all.counts().back(), 1u);
  EXPECT_DOUBLE_EQ(all.sum(), 0.001 + 2 + 2 + 48 * 3600);
}

}  // namespace
}  // namespace spillway::relay
