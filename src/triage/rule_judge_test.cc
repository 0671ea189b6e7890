#include "triage/rule_judge.h"

#include <gtest/gtest.h>

#include "ports/fake/fake_outbox_store.h"

namespace spillway::triage {
namespace {

using namespace std::chrono_literals;
using model::Timestamp;
using model::Verdict;
using ports::FakeCall;
using ports::FakeRow;

struct Judging : testing::Test {
  // Rows that are so old by the store's clock.
  std::int64_t insert(const std::string& type, base::Duration age, const std::string& id = "a-1") {
    return store.insert({.aggregate_id = id,
                         .type = type,
                         .created_at = Timestamp::at(store.now() - age / std::chrono::microseconds(1))});
  }

  static Rules rules_of(const std::vector<RuleSpec>& specs, std::optional<base::Duration> window = std::nullopt) {
    Rules rules{{}, window};
    for (const RuleSpec& spec : specs) rules.rules.push_back(*Rule::compile(spec));
    return rules;
  }

  base::Result<std::vector<ports::Judgement>> judge(Rules rules) {
    const auto loaded = store.open_ledger()->load();
    const auto page = store.open_reader()->read({}, loaded->incarnation, {});
    RuleJudge judge(std::move(rules), store.open_triage(), [](const model::Row& row, std::string& key) {
      key = "key of " + std::string(*row.aggregate_id);
      return true;
    });
    return judge.judge(*page, store.now());
  }

  // "0 discard settled, 2 reconcile replay_window"
  std::string verdicts(Rules rules) {
    const auto judgements = judge(std::move(rules));
    if (!judgements) return "error: " + judgements.error().message;
    std::string text;
    for (const auto& one : *judgements) {
      text += (text.empty() ? "" : ", ") + std::to_string(one.row) + " " + to_string(one.verdict) + " " + one.rule;
    }
    return text;
  }

  ports::FakeOutboxStore store;
};

TEST_F(Judging, TheFirstRuleThatMatchesDecides) {
  insert("session.started", 1h);
  insert("session.started", 1min);
  insert("payment.made", 1h);
  EXPECT_EQ(verdicts(rules_of({{.name = "expired", .type = "session.*", .older_than = 30min, .then = Verdict::kDiscard},
                               {.name = "any", .type = "session.*", .then = Verdict::kReconcile}})),
            "0 discard expired, 1 reconcile any");
  EXPECT_EQ(verdicts(rules_of({{.name = "keep", .type = "session.*", .then = Verdict::kPublish},
                               {.name = "all", .type = "*", .then = Verdict::kDiscard}})),
            "0 publish keep, 1 publish keep, 2 discard all");
}

TEST_F(Judging, WhatNoRuleMatchesIsPublished) {
  insert("payment.made", 1000h);
  EXPECT_EQ(verdicts(rules_of({})), "");
  EXPECT_EQ(verdicts(rules_of({{.name = "x", .type = "session.*", .then = Verdict::kDiscard}})), "");
}

TEST_F(Judging, TheReplayWindowComesAfterTheRules) {
  insert("session.started", 25h);
  insert("payment.made", 25h);
  insert("payment.made", 24h);
  store.insert({.type = "payment.made", .created_at = Timestamp{Timestamp::Kind::kMinusInfinity}});
  EXPECT_EQ(verdicts(rules_of({{.name = "keep", .type = "session.*", .then = Verdict::kPublish}}, 24h)),
            "0 publish keep, 1 reconcile replay_window");
  EXPECT_EQ((*judge(rules_of({}, 24h)))[0].reason, "older than the replay window of 1d");
}

TEST_F(Judging, ASupersededEventNeedsANewerOneOfItsKeyAndType) {
  insert("quote.made", 1min, "a");
  insert("quote.made", 1min, "b");
  insert("quote.made", 1min, "a");
  EXPECT_EQ(verdicts(rules_of({{.name = "old", .type = "quote.*", .newer_for_key = true, .then = Verdict::kDiscard}})),
            "0 discard old");
}

TEST_F(Judging, AQueryIsAskedOnlyAboutWhatItCouldDecide) {
  for (int i = 0; i < 10; ++i) insert("payment.made", 1h, "p");
  for (int i = 0; i < 10; ++i) insert("session.started", 1h, "s");
  std::string asked_key;
  store.answer_queries([&](const ports::Predicate&, const ports::AskedRow& row) -> base::Result<bool> {
    asked_key = row.key.value_or("");
    return row.seq == 3;
  });
  const RuleSpec settled{.name = "settled", .type = "payment.*", .sql = "select $key", .then = Verdict::kDiscard};
  EXPECT_EQ(verdicts(rules_of({settled})), "2 discard settled");
  EXPECT_EQ(store.rows_asked(), 10U);
  EXPECT_EQ(asked_key, "key of p");
  EXPECT_EQ(verdicts(rules_of({{.name = "all", .type = "*"}, settled})).find("settled"), std::string::npos);
  EXPECT_EQ(store.rows_asked(), 10U) << "nothing was left to ask about";
}

TEST_F(Judging, ARuleThatFailsForARowLeavesItToAPersonAndDiscardsNothing) {
  insert("payment.made", 1h, "good");
  insert("payment.made", 1h, "bad");
  store.insert({.type = "payment.made", .headers = "no json"});
  store.answer_queries([](const ports::Predicate&, const ports::AskedRow& row) -> base::Result<bool> {
    if (row.aggregate_id == "bad") return base::fail(base::ErrorClass::kRejected, "division by zero");
    return true;
  });
  const RuleSpec header{.name = "test", .header = {{"test", "true"}}, .then = Verdict::kDiscard};
  const RuleSpec settled{.name = "settled", .sql = "select 1", .then = Verdict::kDiscard};
  EXPECT_EQ(verdicts(rules_of({header, settled})), "0 discard settled, 1 reconcile settled, 2 reconcile test");
  const auto judgements = *judge(rules_of({header, settled}));
  EXPECT_EQ(judgements[1].reason, "the rule cannot be judged: division by zero");
  EXPECT_EQ(judgements[2].reason, "the rule cannot be judged: its headers are no JSON object");
}

TEST_F(Judging, WhatTheDatabaseCannotAnswerJudgesNothing) {
  insert("payment.made", 1h);
  store.fail_next(FakeCall::kTriage, {base::ErrorClass::kUnavailable, "gone"});
  const auto answer = judge(rules_of({{.name = "settled", .sql = "select 1", .then = Verdict::kDiscard}}));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().error_class, base::ErrorClass::kUnavailable);
  EXPECT_EQ(answer.error().message, "triage rule settled: gone");
}

TEST_F(Judging, AQueryThatTheDatabaseRefusesIsNamedAtTheStart) {
  RuleJudge judge(rules_of({{.name = "plain", .type = "a"}, {.name = "settled", .sql = "select 1"}}),
                  store.open_triage(), {});
  EXPECT_TRUE(judge.check());
  store.fail_next(FakeCall::kTriage, {base::ErrorClass::kMisconfigured, "no such table: ledgr"});
  EXPECT_EQ(judge.check().error().message, "triage rule settled: no such table: ledgr");
}

}  // namespace
}  // namespace spillway::triage
