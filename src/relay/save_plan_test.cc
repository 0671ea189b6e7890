#include "relay/save_plan.h"

#include <gmock/gmock.h>

#include "relay/start_for_test.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

ports::Progress at(std::int64_t seq) {
  ports::Progress progress;
  progress.live.last_seq = seq;
  return progress;
}

SavePlan plan_at(std::int64_t seq, SavePlan::Options options = {}) {
  SavePlan plan(options);
  plan.loaded(at(seq), kStart);
  return plan;
}

TEST(SavePlan, WaitsForItsTimeOnceRowsWereAcknowledged) {
  SavePlan plan = plan_at(7);
  EXPECT_EQ(plan.next_wake(), std::nullopt);
  plan.published(8);
  EXPECT_EQ(plan.next_wake(), kStart + 100ms);
  EXPECT_FALSE(plan.due(false, false, kStart + 99ms));
  EXPECT_TRUE(plan.due(false, false, kStart + 100ms));
  EXPECT_TRUE(plan.due(true, false, kStart));
}

TEST(SavePlan, DoesNotWaitWithAsManyRowsAsMayBeSentAgain) {
  SavePlan plan = plan_at(7, {.rows = 2});
  plan.published(8);
  EXPECT_FALSE(plan.due(false, false, kStart));
  plan.published(9);
  EXPECT_TRUE(plan.due(false, false, kStart)) << "inclusive";
}

TEST(SavePlan, SavesAPlaceThatMovesWithoutRowsRarely) {
  SavePlan plan = plan_at(7);
  EXPECT_FALSE(plan.due(false, false, kStart + 29s));
  EXPECT_TRUE(plan.due(false, false, kStart + 30s));
  EXPECT_TRUE(plan.due(false, true, kStart + 1s)) << "it passed rows";
  plan.recorded();
  EXPECT_TRUE(plan.due(false, false, kStart + 1s)) << "rows were recorded";
}

TEST(SavePlan, SaysNothingTwiceUnlessItIsOwed) {
  SavePlan plan = plan_at(7);
  EXPECT_FALSE(plan.next(at(7), false, kStart));
  EXPECT_TRUE(plan.next(at(7), true, kStart));
  EXPECT_TRUE(plan.next(at(8), false, kStart));
  EXPECT_TRUE(plan.stands_at(at(7))) << "until it succeeds";
  plan.saved();
  EXPECT_TRUE(plan.stands_at(at(8)));
  EXPECT_FALSE(plan.next(at(8), false, kStart));
}

TEST(SavePlan, NamesEachAcknowledgedRowOnceASaveSucceedsAndAgainUntilThen) {
  SavePlan plan = plan_at(7, {.marks_rows = true});
  plan.published(12);
  plan.published(9);
  EXPECT_EQ(plan.next(at(7), false, kStart)->published, 2);
  plan.published(8);
  const auto again = plan.next(at(9), false, kStart);
  EXPECT_EQ(again->published, 3);
  EXPECT_THAT(again->finished, ElementsAre(8, 9, 12));
  plan.published(15);
  plan.saved();
  EXPECT_EQ(plan.unsaved(), 1);
  EXPECT_THAT(plan.next(at(9), false, kStart)->finished, ElementsAre(15));
}

TEST(SavePlan, NamesNoRowsWhereTheStoreMarksNone) {
  SavePlan plan = plan_at(7);
  plan.published(8);
  EXPECT_TRUE(plan.next(at(8), false, kStart)->finished.empty());
}

TEST(SavePlan, ASplitWhileASaveIsOutNeedsAnotherOne) {
  SavePlan plan = plan_at(7);
  plan.split();
  EXPECT_FALSE(plan.splits_saved());
  EXPECT_TRUE(plan.due(false, false, kStart));
  plan.next(at(7), false, kStart);
  plan.split();
  plan.saved();
  EXPECT_FALSE(plan.splits_saved());
  plan.next(at(7), false, kStart);
  plan.saved();
  EXPECT_TRUE(plan.splits_saved());
  EXPECT_FALSE(plan.next(at(7), false, kStart));
}

}  // namespace
}  // namespace spillway::relay
