#include "relay/poll_pace.h"

#include <gtest/gtest.h>

#include "relay/start_for_test.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;

TEST(PollPace, GrowsToTheIdlePauseAndNoFurther) {
  PollPace pace(2ms, 50ms);
  base::Instant now = kStart;
  base::Duration before = 0ms;
  for (int i = 0; i < 100; ++i) {
    pace.found_nothing(now);
    const base::Duration pause = pace.next() - now;
    EXPECT_GE(pause, before);
    EXPECT_LE(pause, 50ms);
    before = pause;
    now = pace.next();
  }
  EXPECT_EQ(before, 50ms);
}

TEST(PollPace, LooksAtOnceWhileMoreIsKnownAndAfterAHint) {
  PollPace pace(2ms, 50ms);
  pace.found_nothing(kStart);
  EXPECT_FALSE(pace.due(kStart));
  pace.hint();
  EXPECT_TRUE(pace.due(kStart));
  pace.asked();
  pace.found_some_now_wait(kStart);
  EXPECT_EQ(pace.next(), kStart + 2ms);
  pace.found_rows();
  EXPECT_TRUE(pace.due(kStart));
}

TEST(PollPace, AHintWhileAReadIsUnderWayIsFollowedByAnotherRead) {
  PollPace pace(20s, 60s);
  pace.asked();
  pace.hint();  // the read may have begun before the rows were there
  pace.found_nothing(kStart);
  EXPECT_TRUE(pace.due(kStart));
  pace.asked();
  pace.hint();
  pace.found_some_now_wait(kStart);
  EXPECT_TRUE(pace.due(kStart));
  pace.asked();
  pace.found_some_now_wait(kStart);
  EXPECT_EQ(pace.next(), kStart + 20s) << "one more for each hint";
}

TEST(PollPace, AnIdlePauseBelowTheBusyOneCountsAsTheBusyOne) {
  PollPace pace(20ms, 5ms);
  for (int i = 0; i < 10; ++i) pace.found_nothing(kStart);
  EXPECT_EQ(pace.next(), kStart + 20ms);
}

}  // namespace
}  // namespace spillway::relay
