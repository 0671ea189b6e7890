#include "relay/released.h"

#include <gmock/gmock.h>

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr base::Instant kStart{1000s};

model::Settlement released_row(std::int64_t seq) {
  model::Settlement row;
  row.seq = seq;
  return row;
}

TEST(Released, IsKnownUntilTheLedgerWasTold) {
  Released released;
  released.answered({released_row(7)}, kStart);
  released.answered({released_row(3)}, kStart);
  const auto taken = released.take_unread(10);
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
  EXPECT_TRUE(released.has_clear());
  EXPECT_FALSE(released.look_up_due(kStart)) << "first those that may go";
  const auto taken = released.take_clear();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken.front().seq, 5);
  EXPECT_TRUE(released.look_up_due(kStart));
  EXPECT_EQ(released.take_unread(10).size(), 2u);
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
  EXPECT_FALSE(released.has_clear());
  EXPECT_FALSE(released.look_up_due(kStart + 99ms));
  EXPECT_TRUE(released.look_up_due(kStart + 100ms));
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
