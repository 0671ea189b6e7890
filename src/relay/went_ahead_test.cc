#include "relay/went_ahead.h"

#include <gtest/gtest.h>

namespace spillway::relay {
namespace {

using Meeting = WentAhead::Meeting;

TEST(WentAhead, ALanePassesWhatIsFinishedAndWaitsForWhatIsOnItsWay) {
  WentAhead rows;
  EXPECT_TRUE(rows.add(1));
  EXPECT_TRUE(rows.add(2));
  EXPECT_FALSE(rows.add(2)) << "it is sent once";
  EXPECT_EQ(rows.finished(1), std::nullopt) << "no lane has met it";
  EXPECT_EQ(rows.finished(), 1u);
  EXPECT_EQ(rows.meet(1, 100), Meeting::kPass);
  EXPECT_EQ(rows.meet(2, 101), Meeting::kFinishedLater);
  EXPECT_EQ(rows.meet(3, 102), Meeting::kUnknown);
  EXPECT_EQ(rows.finished(2), 101u);
  EXPECT_TRUE(rows.empty());
}

TEST(WentAhead, ALaneThatStartsOverMeetsThemAgain) {
  WentAhead rows;
  rows.add(1);
  rows.meet(1, 100);
  EXPECT_FALSE(rows.add(1));
  EXPECT_EQ(rows.finished(1), std::nullopt) << "its place is gone";
  EXPECT_EQ(rows.meet(1, 200), Meeting::kPass);
}

TEST(WentAhead, WhatIsFinishedIsCountedOnce) {
  WentAhead rows;
  rows.add_finished(1);
  rows.add_finished(1);
  EXPECT_FALSE(rows.add(1));
  EXPECT_TRUE(rows.is_finished(1));
  EXPECT_EQ(rows.finished(1), std::nullopt);
  EXPECT_EQ(rows.finished(), 1u);
  EXPECT_EQ(rows.meet(1, 100), Meeting::kPass);
  EXPECT_EQ(rows.finished(), 0u);
}

}  // namespace
}  // namespace spillway::relay
