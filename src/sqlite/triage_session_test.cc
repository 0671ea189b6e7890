#include "sqlite/triage_session.h"

#include <gtest/gtest.h>

#include "sqlite/scratch_outbox.h"

namespace spillway::sqlite {
namespace {

using base::ErrorClass;
using ports::Predicate;
using ports::RowField;

Predicate about_id(const std::string& before, const std::string& after = "") {
  return {{{before, RowField::kAggregateId}, {after}}};
}

struct Triage : OutboxFile {
  std::unique_ptr<ports::TriageSession> session = store.open_triage();
  std::string trouble_of(const Predicate& predicate) {
    const auto checked = session->check(predicate);
    if (checked) return "";
    EXPECT_EQ(checked.error().error_class, ErrorClass::kMisconfigured);
    return checked.error().message;
  }
};

TEST_F(Triage, AQueryIsUnderstoodBeforeItRuns) {
  execute(path, "CREATE TABLE ledger (id TEXT PRIMARY KEY)");
  EXPECT_EQ(trouble_of(about_id("SELECT 1 FROM ledger WHERE id = ", " -- settled")), "");
  EXPECT_EQ(trouble_of(about_id("SELECT 1 FROM ledgr WHERE id = ")), "no such table: ledgr");
  EXPECT_EQ(trouble_of(about_id("SELECT 1 WERE ")), "near \"?1\": syntax error");
  EXPECT_EQ(trouble_of(about_id("DELETE FROM ledger WHERE id = ")), "would write, and a rule may only read");
  EXPECT_EQ(trouble_of(about_id("SELECT 1; DELETE FROM ledger WHERE id = ")), "holds more than one statement");
  EXPECT_EQ(trouble_of({{{" ; "}}}), "returns no rows: expected a select");
}

TEST_F(Triage, OneRowThatRunsForEverLeavesTheOthers) {
  sqlite::TriageSession impatient({.path = path, .time_limit = std::chrono::milliseconds(50)});
  const Predicate endless = about_id("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE 'slow' = ",
                                     ") SELECT count(*) FROM n");
  const std::vector<ports::AskedRow> rows{{.seq = 1, .aggregate_id = "a"}, {.seq = 2, .aggregate_id = "slow"}};
  const auto found = impatient.matches(endless, rows);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->matched, std::vector<std::size_t>{0});
  ASSERT_EQ(found->failed.size(), 1U);
  EXPECT_EQ(found->failed[0].row, 1U);
  EXPECT_EQ(found->failed[0].message, "took longer than 50 ms");
}

TEST_F(Triage, EveryFieldIsBoundAsItsOwnValue) {
  const base::Uuid id{{0xab}};
  const Predicate all{{{"SELECT 1 WHERE typeof(", RowField::kSeq},
                       {") = 'integer' AND ", RowField::kSeq},
                       {" = 7 AND ", RowField::kId},
                       {" = '" + base::to_string(id) + "' AND ", RowField::kAggregateType},
                       {" = 't''t' AND ", RowField::kAggregateId},
                       {" IS NULL AND ", RowField::kType},
                       {" = 'x' AND ", RowField::kKey},
                       {" = ''"}}};
  const std::vector<ports::AskedRow> rows{
      {.seq = 7, .id = id, .aggregate_type = "t't", .aggregate_id = std::nullopt, .type = "x", .key = ""}};
  const auto found = session->matches(all, rows);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->matched.size(), 1U);
}

}  // namespace
}  // namespace spillway::sqlite
