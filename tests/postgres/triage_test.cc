// What rules of triage ask of a real server.
#include <chrono>
#include <cstdio>
#include <map>

#include "postgres/outbox.h"
#include "triage/rule_judge.h"

namespace spillway::testing {
namespace {

using base::ErrorClass;
using ports::AskedRow;
using ports::Predicate;
using ports::RowField;

Predicate about_id(const std::string& before, const std::string& after = "") {
  return {{{before, RowField::kAggregateId}, {after}}};
}

std::vector<AskedRow> rows_of(std::initializer_list<const char*> ids) {
  std::vector<AskedRow> rows;
  for (const char* id : ids) rows.push_back({.seq = std::ssize(rows) + 1, .aggregate_id = id});
  return rows;
}

struct TriageOnPostgres : ::testing::Test {
  TriageOnPostgres() { outbox.sql("create table public.ledger (transaction_id uuid primary key)"); }

  std::string trouble_of(const Predicate& predicate) {
    const auto checked = session->check(predicate);
    if (checked) return "";
    EXPECT_EQ(checked.error().error_class, ErrorClass::kMisconfigured);
    return checked.error().message;
  }

  Outbox outbox;
  std::unique_ptr<postgres::OutboxStore> store = outbox.store();
  std::unique_ptr<ports::TriageSession> session = store->open_triage();

  // Gives up sooner, after 800 ms.
  std::unique_ptr<ports::TriageSession> impatient() const {
    auto options = outbox.options();
    options.connect.time_limit = std::chrono::seconds(1);
    return postgres::OutboxStore(options).open_triage();
  }
};

TEST_F(TriageOnPostgres, AQueryIsUnderstoodBeforeItRuns) {
  EXPECT_EQ(trouble_of(about_id("select from ledger where transaction_id = ", "::uuid -- settled")), "");
  EXPECT_EQ(trouble_of(about_id("with s as (select 1) select from s where ", " like 'a%'")), "");
  EXPECT_EQ(trouble_of(about_id("select from ledgr where transaction_id = ", "::uuid")),
            "relation \"ledgr\" does not exist (SQLSTATE 42P01)");
  EXPECT_EQ(trouble_of(about_id("select from ledger where transaction_id = ")),
            "operator does not exist: uuid = text (SQLSTATE 42883)");
  EXPECT_EQ(trouble_of(about_id("select form ledger where ")), "column \"form\" does not exist (SQLSTATE 42703)");
  EXPECT_EQ(trouble_of(about_id("delete from ledger where transaction_id = ", "::uuid")),
            "syntax error at or near \"delete\" (SQLSTATE 42601)");
  EXPECT_EQ(trouble_of(about_id("select from pg_authid where rolname = ")), "");
}

TEST_F(TriageOnPostgres, EveryFieldHasItsOwnType) {
  const base::Uuid id{{0xab}};
  const Predicate all{{{"select where ", RowField::kSeq},
                       {" = 7 and ", RowField::kId},
                       {" = '" + base::to_string(id) + "'::uuid and ", RowField::kAggregateType},
                       {" = 't''t' and ", RowField::kAggregateId},
                       {" is null and ", RowField::kType},
                       {" = 'NULL' and ", RowField::kKey},
                       {" = ''"}}};
  const std::vector<AskedRow> rows{{.seq = 8, .id = id},
                                   {.seq = 7, .id = id, .aggregate_type = "t't", .type = "NULL", .key = ""}};
  const auto found = session->matches(all, rows);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->matched, std::vector<std::size_t>{1});
}

TEST_F(TriageOnPostgres, AValueIsNeverReadAsSql) {
  const auto rows = rows_of({"'; drop table ledger; --", "\\", "{a,b}", "$1", "null"});
  const auto found = session->matches(about_id("select where ", " = '''; drop table ledger; --'"), rows);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->matched, std::vector<std::size_t>{0});
  EXPECT_EQ(outbox.number("select count(*) from ledger"), 0);
}

TEST_F(TriageOnPostgres, OnlyTheRowsThatRaiseAnErrorFail) {
  outbox.sql("insert into ledger values ('00000000-0000-4000-8000-000000000001')");
  std::vector<AskedRow> rows(300, {.aggregate_id = "00000000-0000-4000-8000-000000000002"});
  rows[1].aggregate_id = "order-17";
  rows[150].aggregate_id = rows[299].aggregate_id = "00000000-0000-4000-8000-000000000001";
  rows[151].aggregate_id = "";
  const auto found = session->matches(about_id("select from ledger where transaction_id = ", "::uuid"), rows);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->matched, (std::vector<std::size_t>{150, 299}));
  ASSERT_EQ(found->failed.size(), 2U);
  EXPECT_EQ(found->failed[0].row, 1U);
  EXPECT_EQ(found->failed[0].message, "invalid input syntax for type uuid: \"order-17\" (SQLSTATE 22P02)");
  EXPECT_EQ(found->failed[1].row, 151U);
}

TEST_F(TriageOnPostgres, AQueryThatFailsForEveryRowIsForAPerson) {
  const Predicate predicate = about_id("select from ledger where transaction_id = ", "::uuid");
  ASSERT_EQ(trouble_of(predicate), "");
  outbox.sql("drop table ledger");
  const auto found = session->matches(predicate, rows_of({"a", "b"}));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().error_class, ErrorClass::kMisconfigured);
  EXPECT_EQ(found.error().message, "relation \"ledger\" does not exist (SQLSTATE 42P01)");
}

TEST_F(TriageOnPostgres, AQueryThatWritesIsRefusedAndWritesNothing) {
  outbox.sql(
      "create function public.note(id text) returns boolean language plpgsql as "
      "$$begin insert into public.ledger values (gen_random_uuid()); return true; end$$");
  const auto found = session->matches(about_id("select where note(", ")"), rows_of({"a"}));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().error_class, ErrorClass::kMisconfigured);
  EXPECT_EQ(outbox.number("select count(*) from ledger"), 0);
  EXPECT_TRUE(session->matches(about_id("select where 'a' = "), rows_of({"a"}))) << "the session is usable again";
}

// The server's own limit ends each statement: what is too slow for a page may do for a row.
TEST_F(TriageOnPostgres, RowsThatAreTooSlowTogetherAreAskedAboutOneByOne) {
  const auto rows = rows_of({"0.3", "0.3", "0.3", "9"});
  const auto found = impatient()->matches(about_id("select where pg_sleep(", "::float8) is not null"), rows);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->matched, (std::vector<std::size_t>{0, 1, 2}));
  ASSERT_EQ(found->failed.size(), 1U);
  EXPECT_EQ(found->failed[0].message, "took longer than 800 ms");
}

TEST_F(TriageOnPostgres, ALockedTableIsWaitedForAndNotJudged) {
  Session migration(outbox.uri());
  migration.run("begin");
  migration.run("lock table public.ledger in access exclusive mode");
  const auto found =
      impatient()->matches(about_id("select from ledger where transaction_id = ", "::uuid"), rows_of({"a"}));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().error_class, ErrorClass::kTransient);
}

triage::Rules five_rules() {
  using namespace std::chrono_literals;
  using model::Verdict;
  const std::vector<triage::RuleSpec> specs{
      {.name = "settled",
       .type = "payment.*",
       .sql = "select from ledger where transaction_id = $aggregateid::uuid",
       .then = Verdict::kDiscard},
      {.name = "expired", .type = "session.*", .older_than = 30min, .then = Verdict::kDiscard},
      {.name = "superseded", .type = "quote.*", .newer_for_key = true, .then = Verdict::kDiscard},
      {.name = "test", .header = {{"tenant", "test"}}, .then = Verdict::kReconcile},
      {.name = "vip", .key = "vip-*", .then = Verdict::kPublish}};
  triage::Rules rules;
  for (const auto& spec : specs) rules.rules.push_back(*triage::Rule::compile(spec));
  return rules;
}

// The figure is printed and not judged: what else the machine does decides it.
TEST_F(TriageOnPostgres, FiveRulesJudgeAHundredThousandRows) {
  outbox.sql(
      "create index if not exists by_key on spillway.outbox (aggregateid, seq); "
      "insert into ledger select md5(n::text)::uuid from generate_series(0, 99999, 8) n; "
      "insert into spillway.outbox (aggregatetype, aggregateid, type, payload, headers, created_at) select 'thing', "
      "case when n % 4 = 2 then 'q-' || n % 2000 else md5(n::text)::uuid::text end, "
      "(array['payment.made', 'session.started', 'quote.made', 'order.placed'])[1 + n % 4], '{}', "
      "case when n % 4 = 3 and n % 100 = 3 then '{\"tenant\": \"test\"}'::jsonb end, now() - n * interval '36 ms' "
      "from generate_series(0, 99999) n");
  triage::RuleJudge judge(five_rules(), store->open_triage(), [](const model::Row& row, std::string& key) {
    key = *row.aggregate_id;
    return true;
  });
  ASSERT_TRUE(judge.check());
  Follower follower(outbox);
  std::map<std::string, std::int64_t> by_rule;
  std::int64_t rows = 0;
  std::optional<std::int64_t> as_of;
  std::chrono::duration<double> spent{};
  for (;;) {
    const auto page = follower.read_page({.rows = 5000, .bytes = 8 << 20});
    ASSERT_TRUE(page) << page.error().message;
    if (page->rows.empty() && !page->more) break;
    if (!as_of) as_of = page->db_now_micros;
    const auto begun = std::chrono::steady_clock::now();
    const auto judgements = judge.judge(*page, *as_of);
    spent += std::chrono::steady_clock::now() - begun;
    ASSERT_TRUE(judgements) << judgements.error().message;
    rows += std::ssize(page->rows);
    for (const auto& one : *judgements) ++by_rule[one.rule];
  }
  std::printf("%lld rows judged by five rules: %.0f/s\n", static_cast<long long>(rows),
              static_cast<double>(rows) / spent.count());
  EXPECT_EQ(rows, 100'000);
  EXPECT_EQ(by_rule["settled"], 12'500);
  EXPECT_NEAR(static_cast<double>(by_rule["expired"]), 12'500, 500);
  EXPECT_EQ(by_rule["superseded"], 25'000 - 500);
  EXPECT_EQ(by_rule["test"], 1000);
  EXPECT_EQ(by_rule["vip"], 0);
}

}  // namespace
}  // namespace spillway::testing
