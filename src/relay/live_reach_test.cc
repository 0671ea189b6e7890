#include "relay/live_reach.h"

#include <gtest/gtest.h>

#include "relay/start_for_test.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kDbStart = 5'000'000'000;

TEST(LiveReach, KnowsNothingAtTheFirstStartAndThatIsTooLate) {
  LiveReach reach(5s);
  reach.loaded(0, kDbStart, kStart);
  EXPECT_EQ(reach.behind(kStart), std::nullopt);
  EXPECT_TRUE(reach.too_late(0, kStart));
}

TEST(LiveReach, GoesOnWhereTheLedgerSaysByTheDatabasesClock) {
  LiveReach reach(5s);
  reach.loaded(kDbStart - 3'000'000, kDbStart, kStart);
  EXPECT_EQ(reach.behind(kStart + 1s), 4s);
  EXPECT_FALSE(reach.too_late(0, kStart + 2s)) << "inclusive";
  EXPECT_TRUE(reach.too_late(0, kStart + 2s + 1ns));
  EXPECT_EQ(reach.read_up_to_unix_micros(), kDbStart - 3'000'000);
}

TEST(LiveReach, TakesASaveFromTheDatabasesFutureForNow) {
  LiveReach reach(5s);
  reach.loaded(kDbStart + 3'000'000, kDbStart, kStart);
  EXPECT_EQ(reach.behind(kStart), 0s);
}

TEST(LiveReach, IsAsFarAsAFrameWasFixedOnceItIsReadWhole) {
  LiveReach reach(5s);
  reach.loaded(0, kDbStart, kStart);
  reach.frame_fixed(kStart, kDbStart + 7);
  reach.page_read(true);
  EXPECT_EQ(reach.behind(kStart + 1s), std::nullopt);
  EXPECT_FALSE(reach.caught_up());
  reach.page_read(false);
  EXPECT_TRUE(reach.caught_up());
  EXPECT_EQ(reach.behind(kStart + 2s), 2s) << "counted from the question, not from the answer";
  EXPECT_EQ(reach.read_up_to_unix_micros(), kDbStart + 7);
}

TEST(LiveReach, IsBeyondEarlierLivesAtTheSecondEndOfAFrame) {
  LiveReach reach(5s);
  reach.page_read(false);
  reach.page_read(true);
  EXPECT_FALSE(reach.beyond_earlier_lives());
  reach.page_read(false);
  EXPECT_TRUE(reach.beyond_earlier_lives());
}

TEST(LiveReach, SplitsOnceUntilSomethingIsAcknowledged) {
  LiveReach reach(5s);
  reach.frame_fixed(kStart, kDbStart);
  reach.split(10, kStart + 5s);
  EXPECT_FALSE(reach.too_late(10, kStart + 60s));
  EXPECT_TRUE(reach.too_late(11, kStart + 60s));
}

TEST(LiveReach, SplitsAgainAtOnceWhereTheFrameEndedBeforeTheOutage) {
  LiveReach reach(5s);
  reach.frame_fixed(kStart, kDbStart);
  reach.split(10, kStart + 5s + 1ns);
  EXPECT_TRUE(reach.too_late(10, kStart + 5s + 1ns));
}

}  // namespace
}  // namespace spillway::relay
