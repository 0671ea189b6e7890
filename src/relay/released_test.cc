#include "relay/released.h"

#include <gmock/gmock.h>

#include "relay/start_for_test.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

model::Settlement released_row(std::int64_t seq, std::optional<std::string> key = {}) {
  model::Settlement row;
  row.seq = seq;
  row.key = std::move(key);
  return row;
}

std::vector<std::int64_t> seqs(const std::vector<Waiting>& rows) {
  std::vector<std::int64_t> seqs;
  for (const Waiting& row : rows) seqs.push_back(row.seq);
  return seqs;
}

TEST(Released, IsKnownUntilTheLedgerWasTold) {
  Released released;
  released.answered({released_row(7)}, kStart);
  released.answered({released_row(3)}, kStart);
  const auto taken = released.take(10, false);
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken.front().seq, 3) << "by seq";
  EXPECT_TRUE(Released::is(taken.front().ordinal));
  EXPECT_FALSE(Released::is(1'000'000));
  released.finish(3);
  released.answered({released_row(3)}, kStart);
  EXPECT_FALSE(released.has_unread()) << "the ledger still names it";
  EXPECT_TRUE(released.has_to_tell());
  EXPECT_THAT(released.to_tell(), ElementsAre(3));
  released.finish(7);
  released.told();
  EXPECT_THAT(released.to_tell(), ElementsAre(7)) << "finished after the ledger was asked";
  released.answered({released_row(3)}, kStart);
  EXPECT_TRUE(released.has_unread());
}

TEST(Released, ThoseWhoseKeysAreClearGoAndTheOthersStay) {
  Released released;
  for (std::int64_t seq : {3, 5, 7}) released.answered({released_row(seq)}, kStart);
  ASSERT_TRUE(released.look_up_due(kStart));
  const auto keys = released.to_look_up(2);
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[1].before, 5);
  released.looked_up({5}, kStart);
  EXPECT_FALSE(released.look_up_due(kStart)) << "first those that may go";
  const auto taken = released.take(10, true);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken.front().seq, 5);
  EXPECT_TRUE(released.look_up_due(kStart));
  EXPECT_TRUE(released.take(10, true).empty());
  EXPECT_EQ(released.take(10, false).size(), 2u);
}

TEST(Released, AsksAtOnceWhereThereAreMore) {
  Released released;
  std::vector<model::Settlement> rows;
  for (std::int64_t seq = 0; seq < 499; ++seq) rows.push_back(released_row(seq));
  released.ask(kStart);
  released.answered(rows, kStart);
  EXPECT_FALSE(released.ask_due(kStart));
  for (std::int64_t seq = 0; seq < 500; ++seq) rows.push_back(released_row(1'000 + seq));
  released.answered(rows, kStart);
  EXPECT_TRUE(released.ask_due(kStart));
}

TEST(Released, LooksAgainInAWhileWhereAllAreHeldUp) {
  Released released;
  released.answered({released_row(3)}, kStart);
  released.looked_up({}, kStart);
  EXPECT_FALSE(released.look_up_due(kStart + 99ms));
  EXPECT_TRUE(released.look_up_due(kStart + 100ms));
}

// In between a person may have let an earlier one go that the ledger does not hold any more and did not name yet.
TEST(Released, GoOnlyByAListThatIsNewerThanWhatIsKnownOfHeldKeys) {
  Released released;
  released.ask(kStart);
  released.answered({released_row(7)}, kStart);
  released.keys_held(kStart);
  EXPECT_TRUE(released.take(10, false).empty());
  EXPECT_TRUE(released.ask_due(kStart));
  released.ask(kStart);
  released.answered({released_row(3), released_row(7)}, kStart);
  EXPECT_THAT(seqs(released.take(10, false)), ElementsAre(3, 7));
}

TEST(Released, GoAsFarAsTheListReaches) {
  Released released;
  std::vector<model::Settlement> rows;
  for (std::int64_t seq = 1; seq <= 500; ++seq) rows.push_back(released_row(seq));
  released.ask(kStart);
  released.answered({released_row(1'000)}, kStart);
  released.answered(rows, kStart);
  EXPECT_EQ(released.take(10'000, false).size(), 500u) << "what follows may come before row 1,000";
}

TEST(Released, AtAGateARowFollowsEarlierOnesOfItsKeyThatComeLater) {
  Released released;
  released.ask(kStart);
  released.answered({released_row(7, "k")}, kStart);
  ASSERT_THAT(seqs(released.take(10, false)), ElementsAre(7));
  released.placed(7);
  EXPECT_FALSE(released.placing());
  model::Row row;
  row.seq = 7;
  row.aggregate_id = "k";
  released.keys_held(kStart);
  EXPECT_TRUE(released.waits(row)) << "for the list";
  released.ask(kStart);
  released.answered({released_row(3, "other"), released_row(7, "k")}, kStart);
  EXPECT_FALSE(released.waits(row));
  EXPECT_FALSE(released.overtakes(row));
  released.answered({released_row(3, "other"), released_row(4, "k"), released_row(7, "k")}, kStart);
  EXPECT_TRUE(released.overtakes(row));
  EXPECT_THAT(seqs(released.take(10, false)), ElementsAre(3, 4));
  EXPECT_TRUE(released.waits(row)) << "not placed yet";
  EXPECT_FALSE(released.overtakes(row));
  released.placed(3);
  released.put_back(4);
  EXPECT_TRUE(released.overtakes(row));
  released.put_back(7);
  EXPECT_THAT(seqs(released.take(10, false)), ElementsAre(4, 7));
}

TEST(Released, WhatARuleReconciledFollowsNothing) {
  Released released;
  model::Settlement row = released_row(3);
  row.verdict = model::Verdict::kReconcile;
  released.answered({row, released_row(5)}, kStart);
  const auto taken = released.take(10, true);
  ASSERT_THAT(seqs(taken), ElementsAre(3));
  EXPECT_NE(released.reconciled(3, taken.front().ordinal), nullptr);
  EXPECT_EQ(released.reconciled(5, taken.front().ordinal), nullptr);
}

TEST(Released, KnowsTheFirstTenThousand) {
  Released released;
  std::vector<model::Settlement> rows;
  for (std::int64_t seq = 10'001; seq <= 20'000; ++seq) rows.push_back(released_row(seq));
  released.answered(rows, kStart);
  released.keys_held(kStart);
  ASSERT_TRUE(released.ask_due(kStart)) << "the list has to be newer";
  EXPECT_EQ(released.ask(kStart), 10'500u);
  rows.insert(rows.begin(), released_row(1));
  released.answered(rows, kStart);
  std::vector<std::int64_t> taken = seqs(released.take(20'000, false));
  ASSERT_EQ(taken.size(), 10'000u);
  EXPECT_EQ(taken.front(), 1);
  EXPECT_EQ(taken.back(), 19'999);
}

TEST(Released, AsksTheLedgerEverySecondForMoreThanItKnows) {
  Released released;
  released.answered({released_row(3)}, kStart);
  EXPECT_EQ(released.ask(kStart), 501u);
  EXPECT_FALSE(released.ask_due(kStart + 999ms));
  EXPECT_TRUE(released.ask_due(kStart + 1s));
  released.ask_again(kStart);
  EXPECT_TRUE(released.ask_due(kStart));
  for (std::int64_t seq = 10; seq < 10'009; ++seq) released.answered({released_row(seq)}, kStart);
  EXPECT_FALSE(released.ask_due(kStart)) << "as many as fit in memory";
}

}  // namespace
}  // namespace spillway::relay
