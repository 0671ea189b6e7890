#include "relay/promotion.h"

#include <gmock/gmock.h>

namespace spillway::relay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

model::Page page(const std::vector<std::pair<std::int64_t, std::string>>& rows, bool more = false) {
  model::Page made;
  made.more = more;
  for (const auto& [seq, key] : rows) {
    model::Row row;
    row.seq = seq;
    row.aggregate_id = made.arena.copy(key);
    made.rows.push_back(row);
  }
  return made;
}

std::vector<std::int64_t> seqs(const Batch& batch) {
  std::vector<std::int64_t> seqs;
  for (const model::Row& row : batch.page.rows) seqs.push_back(row.seq);
  return seqs;
}

TEST(Promotion, GivesRowsOutOnceInTheOrderOfTheirKeys) {
  Promotion promotion;
  WentAhead went_ahead;
  promotion.want("b");
  promotion.want("a");
  promotion.want("b");
  const auto asked = promotion.to_read(10);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked.front().key, "b");
  const Batch batch = promotion.take(page({{2, "b"}, {5, "b"}, {1, "a"}, {9, "stranger"}}), went_ahead);
  EXPECT_THAT(seqs(batch), ElementsAre(2, 5, 1));
  EXPECT_TRUE(Promotion::is(batch.ordinals.front()));
  EXPECT_EQ(went_ahead.size(), 3u);
  EXPECT_FALSE(promotion.has_to_read());
  EXPECT_FALSE(promotion.complete("b")) << "they are on their way";
}

TEST(Promotion, GoesOnBehindTheLastRowWhereAPageWasCut) {
  Promotion promotion;
  WentAhead went_ahead;
  promotion.want("a");
  promotion.want("b");
  promotion.to_read(10);
  promotion.take(page({{1, "a"}, {2, "b"}}, true), went_ahead);
  const auto asked = promotion.to_read(10);
  ASSERT_EQ(asked.size(), 1u) << "a has come whole";
  EXPECT_EQ(asked.front().key, "b");
  EXPECT_EQ(asked.front().after, 2);
}

TEST(Promotion, AKeyIsCompleteOnceItHasComeWholeAndIsFinished) {
  Promotion promotion;
  WentAhead went_ahead;
  promotion.want("a");
  promotion.to_read(10);
  promotion.take(page({{1, "a"}, {2, "a"}}), went_ahead);
  promotion.finished(1);
  EXPECT_THAT(promotion.take_completed(), IsEmpty());
  promotion.finished(3);
  promotion.finished(2);
  EXPECT_THAT(promotion.take_completed(), ElementsAre("a"));
  EXPECT_TRUE(promotion.complete("a"));
}

TEST(Promotion, WhatIsOnItsWayIsNotSentAgainAndWaitedFor) {
  Promotion promotion;
  WentAhead went_ahead;
  went_ahead.add(1);
  went_ahead.add_finished(2);
  promotion.want("a");
  promotion.to_read(10);
  EXPECT_THAT(seqs(promotion.take(page({{1, "a"}, {2, "a"}, {3, "a"}}), went_ahead)), ElementsAre(3));
  promotion.finished(3);
  EXPECT_FALSE(promotion.complete("a"));
  promotion.finished(1);
  EXPECT_TRUE(promotion.complete("a"));
}

TEST(Promotion, MoreBacklogMakesItReadAgainWhatCameMeanwhile) {
  Promotion promotion;
  WentAhead went_ahead;
  promotion.want("a");
  promotion.to_read(10);
  promotion.more_backlog();
  promotion.take(page({{1, "a"}}), went_ahead);
  promotion.finished(1);
  EXPECT_FALSE(promotion.complete("a"));
  EXPECT_EQ(promotion.to_read(10).front().after, 1);
}

TEST(Promotion, StartsOverWithWhatWasReadAndNotSent) {
  Promotion promotion;
  WentAhead went_ahead;
  promotion.want("a");
  promotion.to_read(10);
  promotion.take(page({{1, "a"}, {2, "a"}}), went_ahead);
  went_ahead.take_back(2);
  promotion.start_over();
  EXPECT_LT(promotion.to_read(10).front().after, 1);
  EXPECT_THAT(seqs(promotion.take(page({{1, "a"}, {2, "a"}}), went_ahead)), ElementsAre(2));
  promotion.finished(1);
  promotion.finished(2);
  EXPECT_TRUE(promotion.complete("a"));
}

}  // namespace
}  // namespace spillway::relay
