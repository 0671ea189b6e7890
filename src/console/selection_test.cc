#include "console/selection.h"

#include <gtest/gtest.h>

#include "console/settled_samples.h"

namespace spillway::console {
namespace {

using Selection = SettledOutbox;

TEST_F(Selection, IsFixedAtThePreview) {
  const auto shown = preview(*people, {.rule = "old"});
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(shown->count(), 2);
  EXPECT_EQ(shown->up_to_seq(), 2);
  EXPECT_LE(*shown->oldest_unix_micros, *shown->newest_unix_micros);

  model::Settlement later = shown->events[0];
  sqlite::write_events(path, 1);
  later.seq = 4;
  later.id = base::random_uuid();
  ASSERT_TRUE(ledger->record(fence, std::vector{later}));
  const auto changed = resolve(*people, {.rule = "old"}, *shown, model::Verdict::kDiscard, "settled by hand", "ann");
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(*changed, 2);
  ASSERT_EQ(open().size(), 2u);
  EXPECT_EQ(open()[0].seq, 3);
  EXPECT_EQ(open()[1].seq, 4);
}

TEST_F(Selection, LeavesOutWhatWasSetAsideLaterWithASmallerSeq) {
  const auto shown = preview(*people, {.rule = "old"});
  ASSERT_TRUE(shown) << shown.error().message;
  model::Settlement late = shown->events[0];
  late.seq = 0;
  late.id = base::random_uuid();
  ASSERT_TRUE(ledger->record(fence, std::vector{late}));
  sqlite::execute(path, "UPDATE spillway_settled SET since = since + 10 WHERE seq = 0");
  EXPECT_EQ(*resolve(*people, {.rule = "old"}, *shown, model::Verdict::kDiscard, "settled by hand", "ann"), 2);
  ASSERT_EQ(open().size(), 2u);
  EXPECT_EQ(open()[0].seq, 0);
}

TEST_F(Selection, OfNothingChangesNothing) {
  const auto shown = preview(*people, {.rule = "no such rule"});
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->count(), 0);
  EXPECT_EQ(*resolve(*people, {.rule = "no such rule"}, *shown, model::Verdict::kDiscard, "", "ann"), 0);
  EXPECT_EQ(open().size(), 3u);
}

TEST(ParseBefore, TakesAgesAndTimes) {
  const std::int64_t now = 1'700'000'000'000'000;
  EXPECT_EQ(*parse_before("2h", now), now - 7'200'000'000);
  EXPECT_EQ(*parse_before("1970-01-02", now), 86'400'000'000);
  EXPECT_EQ(*parse_before("1970-01-01T01:02:03Z", now), 3'723'000'000);
  for (const char* bad :
       {"", "2", "yesterday", "1970-13-01", "1970-01-01T25:00:00Z", "1970-01-01T01:02:03", "2026-1-1x"}) {
    EXPECT_FALSE(parse_before(bad, now)) << bad;
  }
}

TEST(ParseIds, NamesEveryTextThatIsNone) {
  EXPECT_EQ(parse_ids({"11111111-2222-4333-8444-555555555555"})->size(), 1u);
  const auto bad = parse_ids({"7", "11111111-2222-4333-8444-555555555555", "x"});
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().message.starts_with("\"7\", \"x\":")) << bad.error().message;
}

}  // namespace
}  // namespace spillway::console
