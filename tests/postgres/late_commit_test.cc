// What writers do to an outbox, and that a reader neither misses nor repeats a row for it.
#include <algorithm>
#include <set>

#include "postgres/outbox.h"

namespace spillway::testing {
namespace {

using Seqs = std::vector<std::int64_t>;

TEST(LateCommit, ARowCommittedLateWithASmallerSeqIsRead) {
  Outbox outbox;
  Follower follower(outbox);
  Session slow(outbox.uri());
  slow.run("begin");
  const std::int64_t early = slow.insert();
  const std::int64_t later = outbox.insert();
  ASSERT_LT(early, later);
  EXPECT_EQ(follower.read(), Seqs{later});
  slow.run("commit");
  EXPECT_EQ(follower.read(), Seqs{early});
  EXPECT_EQ(follower.read(), Seqs{});
}

TEST(LateCommit, OneKeyStaysInLockOrderPastAnOpenTransactionOfAnother) {
  // B takes its transaction id first; C stays open; A locks the key, writes, commits; then B writes for the key.
  Outbox outbox;
  Follower follower(outbox);
  outbox.sql("create table account (id int primary key); insert into account values (1)");
  Session b(outbox.uri());
  Session c(outbox.uri());
  b.run("begin; select pg_current_xact_id()");
  c.run("begin");
  c.insert("other");
  Session a(outbox.uri());
  a.run("begin; update account set id = id");
  const std::int64_t first = a.insert("k");
  a.run("commit");
  b.run("update account set id = id");
  const std::int64_t second = b.insert("k");
  b.run("commit");
  EXPECT_EQ(follower.read(), (Seqs{first, second}));
  c.run("commit");
  EXPECT_EQ(follower.read().size(), 1U);
}

TEST(LateCommit, RolledBackRowsLeaveGapsThatNothingWaitsFor) {
  Outbox outbox;
  Follower follower(outbox);
  const std::int64_t a = outbox.insert();
  Session session(outbox.uri());
  session.run("begin");
  session.insert();
  session.run("rollback");
  const std::int64_t b = outbox.insert();
  EXPECT_EQ(b, a + 2);
  EXPECT_EQ(follower.read(), (Seqs{a, b}));
}

TEST(LateCommit, FiftySlowTransactionsAtOnceLoseNothing) {
  Outbox outbox;
  Follower follower(outbox);
  std::vector<std::unique_ptr<Session>> slow;
  std::multiset<std::int64_t> written;
  std::multiset<std::int64_t> read;
  const auto look = [&](std::size_t page) {
    for (const std::int64_t seq : follower.read({page, 1 << 20})) read.insert(seq);
  };
  for (int i = 0; i < 50; ++i) {
    slow.push_back(std::make_unique<Session>(outbox.uri()));
    slow.back()->run("begin");
    written.insert(slow.back()->insert("k" + std::to_string(i)));
    written.insert(outbox.insert());
    if (i % 7 == 0) look(3);
  }
  // Ends them in an order of their own, every fifth by a rollback, with new rows between.
  for (std::size_t i = 0; i < 50; ++i) {
    Session& session = *slow[(i * 17) % 50];
    const std::int64_t again = session.insert();
    if (i % 5 == 0) {
      written.erase(std::stoll(
          session.run("select seq from spillway.outbox where tx = pg_current_xact_id() order by seq limit 1")));
      session.run("rollback");
    } else {
      written.insert(again);
      session.run("commit");
    }
    written.insert(outbox.insert());
    if (i % 3 == 0) look(i % 2 == 0 ? 1 : 1000);
  }
  look(10);
  EXPECT_EQ(read, written);
}

TEST(LateCommit, ALargeFrameHoldsItsLateRowsToo) {
  Outbox outbox;
  Follower follower(outbox);
  Session below(outbox.uri());
  below.run("begin");
  Seqs expected{below.insert()};
  for (int i = 0; i < 20; ++i) outbox.insert();
  EXPECT_EQ(follower.read().size(), 20U);  // the slow one is now behind the position
  expected.push_back(below.insert());
  for (int i = 0; i < 30; ++i) expected.push_back(outbox.insert());
  expected.push_back(below.insert());
  below.run("commit");
  for (int i = 0; i < 5; ++i) expected.push_back(outbox.insert());
  std::ranges::sort(expected);
  const model::Position start = follower.at();
  for (const std::size_t rows : {1U, 2U, 3U, 10U, 37U, 38U, 39U}) {
    follower.at() = start;
    EXPECT_EQ(follower.read({rows, 1 << 20}), expected) << rows;
  }
}

TEST(LateCommit, ALargeFrameOfLateRowsAloneIsRead) {
  Outbox outbox;
  Follower follower(outbox);
  Session slow(outbox.uri());
  slow.run("begin");
  Seqs expected;
  for (int i = 0; i < 20; ++i) expected.push_back(slow.insert());
  outbox.insert();
  EXPECT_EQ(follower.read().size(), 1U);
  slow.run("commit");
  EXPECT_EQ(follower.read({3, 1 << 20}), expected);
}

TEST(LateCommit, RowsBehindSavepointsAreReadWithTheirTransaction) {
  Outbox outbox;
  Follower follower(outbox);
  Session session(outbox.uri());
  session.run("begin");
  const std::int64_t a = session.insert();
  session.run("savepoint one");
  const std::int64_t b = session.insert();
  outbox.insert();
  EXPECT_EQ(follower.read().size(), 1U);
  session.run("savepoint two");
  session.insert();
  session.run("rollback to two; release one");
  EXPECT_EQ(follower.read(), Seqs{});
  session.run("commit");
  EXPECT_EQ(follower.read(), (Seqs{a, b}));
}

TEST(LateCommit, PreparedTransactionsShowOnlyAfterCommitPrepared) {
  Outbox outbox;
  Follower follower(outbox);
  Session session(outbox.uri());
  session.run("begin");
  const std::int64_t a = session.insert();
  session.run("prepare transaction 'one'");
  const std::int64_t b = outbox.insert();
  EXPECT_EQ(follower.read(), Seqs{b});
  EXPECT_EQ(follower.read(), Seqs{});
  session.run("commit prepared 'one'");
  EXPECT_EQ(follower.read(), Seqs{a});
}

TEST(LateCommit, AForgottenTransactionDelaysNobodyElse) {
  Outbox outbox;
  Follower follower(outbox);
  Session forgotten(outbox.uri());
  forgotten.run("begin");
  const std::int64_t old = forgotten.insert();
  for (int i = 0; i < 20; ++i) {
    const std::int64_t seq = outbox.insert();
    EXPECT_EQ(follower.read(), Seqs{seq});
  }
  forgotten.run("commit");
  EXPECT_EQ(follower.read(), Seqs{old});
}

TEST(LateCommit, ExplicitIdsAreRead) {
  Outbox outbox;
  Follower follower(outbox);
  const auto with_seq = [&](const std::string& seq) {
    outbox.sql("insert into spillway.outbox (seq, aggregatetype, aggregateid, type, payload) values (" + seq +
               ", 'a', 'k', 't', 'p')");
  };
  outbox.insert();
  EXPECT_EQ(follower.read().size(), 1U);
  with_seq("1000000000000");
  EXPECT_EQ(follower.read(), Seqs{1000000000000});
  with_seq("-5");
  with_seq("500");
  EXPECT_EQ(follower.read(), (Seqs{-5, 500}));
  // Far apart, in a frame that is paged.
  model::Position start;
  follower.at() = start;
  EXPECT_EQ(follower.read({1, 1 << 20}), (Seqs{-5, 1, 500, 1000000000000}));
}

TEST(LateCommit, SeqGoesOnBeyond31Bits) {
  Outbox outbox;
  Follower follower(outbox);
  outbox.sql("alter table spillway.outbox alter seq restart with 2147483647");
  const Seqs expected{outbox.insert(), outbox.insert(), outbox.insert()};
  EXPECT_EQ(expected.back(), 2147483649);
  EXPECT_EQ(follower.read({2, 1 << 20}), expected);
  EXPECT_GT(*follower.store().open_operator()->figures()->seq_headroom, 0.99);
}

TEST(LateCommit, FourByteKeysShowHowMuchIsLeft) {
  Outbox outbox;
  outbox.sql("alter table spillway.outbox alter seq type int, alter seq restart with 1610612736");
  const std::int64_t seq = outbox.insert();
  Follower follower(outbox);
  EXPECT_EQ(follower.read(), Seqs{seq});
  EXPECT_NEAR(*follower.store().open_operator()->figures()->seq_headroom, 0.25, 0.01);
}

TEST(LateCommit, ASequenceCacheIsRefusedAtStartAndLosesNothingLater) {
  Outbox outbox;
  Follower follower(outbox);
  outbox.sql("alter sequence spillway.outbox_seq_seq cache 100");
  const auto inspected = follower.store().inspect();
  ASSERT_FALSE(inspected);
  EXPECT_EQ(inspected.error().error_class, base::ErrorClass::kMisconfigured);
  EXPECT_NE(inspected.error().message.find("alter sequence spillway.outbox_seq_seq cache 1"), std::string::npos)
      << inspected.error().message;
  Session one(outbox.uri());
  Session two(outbox.uri());
  const std::int64_t a = one.insert();
  const std::int64_t b = two.insert();
  EXPECT_EQ(follower.read(), (Seqs{a, b}));
  const std::int64_t c = one.insert();  // smaller than b, committed later
  ASSERT_LT(c, b);
  EXPECT_EQ(follower.read(), Seqs{c});
}

TEST(LateCommit, TwoBacklogIntervalsShareNoRowAndMissNone) {
  // A second outage during the recovery from a first.
  Outbox outbox;
  Follower follower(outbox);
  Seqs written;
  const auto freeze = [&](int rows) {
    for (int i = 0; i < rows; ++i) written.push_back(outbox.insert());
    model::Page page = *follower.read_page({3, 1 << 20});  // too small for the frame: it freezes
    return page.frame;
  };
  const model::Frame first = freeze(20);
  Session across(outbox.uri());
  across.run("begin");
  written.push_back(across.insert());
  follower.at() = {{first.to, ""}, std::nullopt};
  const model::Frame second = freeze(20);
  across.run("commit");
  follower.at() = {{second.to, ""}, std::nullopt};
  Seqs read = follower.read();
  EXPECT_EQ(read.size(), 1U);
  for (const model::Frame& frame : {second, first}) {
    follower.at() = {frame, std::nullopt};
    while (!follower.at().frame.to.empty()) {
      const model::Page page = *follower.read_page({7, 1 << 20});
      for (const model::Row& row : page.rows) read.push_back(row.seq);
    }
  }
  std::ranges::sort(read);
  std::ranges::sort(written);
  EXPECT_EQ(read, written);
}

}  // namespace
}  // namespace spillway::testing
