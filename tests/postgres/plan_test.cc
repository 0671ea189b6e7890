// Reading costs what is new, not what is there: counted in blocks of the table and its indexes.
#include "postgres/outbox.h"
#include "support/eventually.h"

namespace spillway::testing {
namespace {

constexpr std::int64_t kMany = 1'000'000;

// Only the indexes that reading uses, for the sake of time; statistics come when the test says so.
void slim(const Outbox& outbox) {
  outbox.sql("alter table spillway.outbox set (autovacuum_enabled = off), drop constraint outbox_id_key");
}

void fill(const Outbox& outbox, std::int64_t rows) {
  outbox.sql(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) select 'account', 'k-' || n % 1000, "
      "'opened', 'x' from generate_series(1, " +
      std::to_string(rows) + ") n");
}

std::int64_t blocks(const Outbox& outbox) {
  return outbox.number(
      "select heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit from pg_statio_user_tables "
      "where schemaname = 'spillway' and relname = 'outbox'");
}

// Blocks that `work` touches; it must close its connections, which is when a backend reports them for sure.
template <typename Work>
std::int64_t blocks_of(const Outbox& outbox, Work work) {
  std::int64_t before = -1;
  eventually([&] { return std::exchange(before, blocks(outbox)) == blocks(outbox); }, std::chrono::seconds(5),
             std::chrono::milliseconds(100));
  work();
  std::int64_t after = before;
  EXPECT_TRUE(eventually([&] { return (after = blocks(outbox)) > before; }));
  return after - before;
}

std::vector<std::int64_t> read_on(const Outbox& outbox, model::Position& at, ports::ReadLimits limits = {}) {
  Follower follower(outbox);
  follower.at() = at;
  auto seqs = follower.read(limits);
  at = follower.at();
  return seqs;
}

TEST(Plan, AMillionRowsBehindAndAnOpenWriterCostNothing) {
  Outbox outbox;
  slim(outbox);
  Session slow(outbox.uri());
  slow.run("begin");
  slow.insert();
  fill(outbox, kMany);
  model::Position at;
  {
    Follower follower(outbox);
    at = {{follower.read_page({1, 1})->next.frame.to, ""}, std::nullopt};
  }
  // Whatever the planner knows: nothing at first, then what its sample found, then that it found a single id.
  for (const std::string known :
       {"", "analyze spillway.outbox",
        "alter table spillway.outbox alter column tx set (n_distinct = 1); analyze spillway.outbox"}) {
    if (!known.empty()) outbox.sql(known);
    for (int i = 0; i < 10; ++i) outbox.insert();
    std::size_t read = 0;
    EXPECT_LT(blocks_of(outbox, [&] { read = read_on(outbox, at).size(); }), 200) << known;
    EXPECT_EQ(read, 10U);
    EXPECT_LT(blocks_of(outbox, [&] { read = read_on(outbox, at).size(); }), 100) << known;
    EXPECT_EQ(read, 0U);
    // Larger than a page, and with the slow writer's row, which lies before all the others.
    slow.run("commit");
    for (int i = 0; i < 20; ++i) outbox.insert();
    EXPECT_LT(blocks_of(outbox, [&] { read = read_on(outbox, at, {7, 1 << 20}).size(); }), 600) << known;
    EXPECT_EQ(read, 21U);
    slow.run("begin");
    slow.insert();
  }
}

TEST(Plan, AMillionRowsInFrontCostOnePageEach) {
  Outbox outbox;
  slim(outbox);
  for (int i = 0; i < 3; ++i) outbox.insert();
  Follower follower(outbox);
  EXPECT_EQ(follower.read().size(), 3U);
  fill(outbox, kMany);
  for (const bool analyzed : {false, true}) {
    if (analyzed) outbox.sql("analyze spillway.outbox");
    // Freezes the frame and finds where its rows lie, by steps.
    while (follower.read_page()->rows.empty()) {
    }
    ASSERT_FALSE(follower.at().frame.to.empty());
    const auto before = blocks(outbox);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i) ASSERT_EQ(follower.read_page()->rows.size(), 1000U);
    // A scan of what lies in front takes most of a second for each page.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
    EXPECT_LT(blocks(outbox) - before, 100'000);
  }
}

TEST(Plan, FiguresOfALargeOutboxAreEstimatedAndCheap) {
  Outbox outbox;
  slim(outbox);
  fill(outbox, kMany);
  const std::int64_t touched = blocks_of(outbox, [&] {
    const auto figures = outbox.store()->open_operator()->figures();
    ASSERT_TRUE(figures) << figures.error().message;
    EXPECT_TRUE(figures->estimated);
    EXPECT_NEAR(static_cast<double>(figures->waiting_rows), 1e6, 1e4);
    EXPECT_TRUE(figures->oldest_age_s);
  });
  EXPECT_LT(touched, 15'000);
}

TEST(Plan, NewerEventsOfAKeyAreLookedUpWhateverThePlannerKnows) {
  Outbox outbox;
  slim(outbox);
  fill(outbox, 300'000);
  outbox.sql("create index if not exists by_key on spillway.outbox (aggregateid, seq)");
  std::vector<ports::AskedRow> rows;
  for (std::int64_t seq = 299'001; seq <= 300'000; ++seq) rows.push_back({.seq = seq});
  for (std::int64_t seq = 1001; seq <= 2000; ++seq) rows.push_back({.seq = seq});
  for (const bool analyzed : {false, true}) {
    if (analyzed) outbox.sql("analyze spillway.outbox");
    std::size_t found = 0;
    EXPECT_LT(blocks_of(outbox, [&] { found = outbox.store()->open_triage()->newer_for_key(rows)->size(); }), 30'000);
    EXPECT_EQ(found, 1000U);
  }
}

}  // namespace
}  // namespace spillway::testing
