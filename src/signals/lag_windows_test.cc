#include "signals/lag_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spillway::signals {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

kafka::GroupPartition at(std::int32_t partition, std::int64_t committed, std::int64_t end) {
  return {"orders", partition, committed, end, {}, false};
}

base::Instant t(double seconds) { return base::Instant(std::chrono::milliseconds(static_cast<int>(seconds * 1000))); }

TEST(LagWindows, CountsWhatWasCommittedAndWhatWaits) {
  LagWindows windows;
  EXPECT_FALSE(windows.answered(t(1), {at(0, 100, 150), at(1, 10, 10)}));
  const auto sample = windows.answered(t(2), {at(0, 180, 200), at(1, 30, 31)});
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->completions, 100);
  EXPECT_EQ(sample->good, 100);
  EXPECT_EQ(sample->lag_events, 21);
  EXPECT_EQ(sample->window_s, 1);
  EXPECT_EQ(windows.trouble(), "");
}

TEST(LagWindows, TheRateIsThatOfTheLastStretchBetweenCommits) {
  LagWindows windows;
  windows.answered(t(1), {at(0, 0, 0)});
  for (int s = 2; s <= 5; ++s) windows.answered(t(s), {at(0, 0, s * 100)});
  EXPECT_EQ(windows.answered(t(6), {at(0, 450, 500)})->completions, 90) << "450 in five seconds";
  for (int s = 7; s <= 10; ++s) EXPECT_EQ(windows.answered(t(s), {at(0, 450, s * 100)})->completions, 90) << s;
  const auto sample = windows.answered(t(11), {at(0, 1000, 1000)});
  EXPECT_EQ(sample->completions, 110);
  EXPECT_EQ(sample->lag_events, 0);
}

TEST(LagWindows, AGroupThatStopsShowsAsLag) {
  LagWindows windows;
  windows.answered(t(1), {at(0, 0, 100)});
  EXPECT_EQ(windows.answered(t(2), {at(0, 100, 200)})->completions, 100);
  EXPECT_EQ(windows.answered(t(3), {at(0, 100, 300)})->completions, 100) << "the next commit is not overdue yet";
  EXPECT_NEAR(windows.answered(t(4), {at(0, 100, 400)})->completions, 33.3, 0.1) << "100 in three seconds";
  for (int s = 5; s <= 7; ++s) windows.answered(t(s), {at(0, 100, s * 100)});
  const auto sample = windows.answered(t(8), {at(0, 100, 800)});
  EXPECT_EQ(sample->completions, 1) << "nothing is taken; the governor divides by one a second";
  EXPECT_EQ(sample->lag_events, 700);
  for (int s = 9; s <= 17; ++s) windows.answered(t(s), {at(0, 100, 800)});
  EXPECT_EQ(windows.trouble(), "partition 0 of topic orders stands still for 15 s with 700 waiting");
}

TEST(LagWindows, AGroupWithNothingToDoIsThere) {
  LagWindows windows;
  windows.answered(t(1), {at(0, 10, 10)});
  const auto sample = windows.answered(t(2), {at(0, 10, 10)});
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->lag_events, 0);
  EXPECT_TRUE(sample->source_moved);
}

TEST(LagWindows, ShorterQuestionsArePooled) {
  LagWindows windows;
  windows.answered(t(1), {at(0, 0, 100)});
  EXPECT_FALSE(windows.answered(t(1.25), {at(0, 10, 100)}));
  EXPECT_FALSE(windows.answered(t(1.5), {at(0, 20, 100)}));
  EXPECT_FALSE(windows.answered(t(1.75), {at(0, 30, 100)}));
  EXPECT_EQ(windows.answered(t(2), {at(0, 40, 100)})->completions, 40);
}

TEST(LagWindows, AGroupWithoutCommitsHasNoSampleAndAReason) {
  LagWindows windows;
  EXPECT_FALSE(windows.answered(t(1), {}));
  EXPECT_FALSE(windows.answered(t(2), {}));
  EXPECT_THAT(windows.trouble(), HasSubstr("the group has committed nothing"));
}

TEST(LagWindows, APartitionThatDoesNotAnswerMakesItPartial) {
  LagWindows windows;
  windows.answered(t(1), {at(0, 0, 0), at(1, 0, 0)});
  kafka::GroupPartition silent{"orders", 1, 5, std::nullopt, "no leader", false};
  const auto sample = windows.answered(t(2), {at(0, 10, 10), silent});
  EXPECT_EQ(sample->targets_answered, 1u);
  EXPECT_EQ(sample->targets_expected, 2u);
  EXPECT_EQ(windows.trouble(), "partition 1 of topic orders: no leader");
}

TEST(LagWindows, ATopicThatWasDeletedIsLeftOutAndSaid) {
  LagWindows windows;
  kafka::GroupPartition gone{"old", 0, 5, std::nullopt, "unknown", true};
  windows.answered(t(1), {at(0, 0, 0), gone});
  const auto sample = windows.answered(t(2), {at(0, 1, 1), gone});
  EXPECT_EQ(sample->targets_answered, sample->targets_expected);
  EXPECT_THAT(windows.trouble(), HasSubstr("no partition 0 of topic old"));
}

TEST(LagWindows, ACommitBeyondTheEndIsNotTakenForNoLag) {
  LagWindows windows;
  windows.answered(t(1), {at(0, 1000, 1000), at(1, 1, 1)});
  const auto sample = windows.answered(t(2), {at(0, 1000, 3), at(1, 2, 2)});
  EXPECT_EQ(sample->targets_answered, 1u);
  EXPECT_THAT(windows.trouble(), HasSubstr("was the topic made anew?"));
}

TEST(LagWindows, AGroupThatWasSetBackHasTakenNothingByThat) {
  LagWindows windows;
  windows.answered(t(1), {at(0, 1000, 1000)});
  EXPECT_EQ(windows.answered(t(2), {at(0, 0, 1000)})->completions, 1);
  const auto sample = windows.answered(t(3), {at(0, 100, 1000)});
  EXPECT_EQ(sample->completions, 50) << "100 in two seconds";
  EXPECT_EQ(sample->lag_events, 900);
}

}  // namespace
}  // namespace spillway::signals
