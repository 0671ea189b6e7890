#include "app/triage_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/load_config.h"
#include "config/testing.h"
#include "ports/fake/fake_outbox_store.h"

namespace spillway::app {
namespace {

using testing::ElementsAre;

constexpr char kStart[] = "outbox: {store: \"sqlite:x.db\"}\nkafka: {bootstrap.servers: \"b:9092\"}\n";

config::Config loaded(const std::string& triage) {
  return config::load_text(kStart + triage, "a.yaml", config::fake_sources()).value().config;
}

TEST(TriageRules, FaultsStandAtTheirPlaceAndAreListedTogether) {
  const auto text = kStart + std::string(
                                 "triage:\n"
                                 "  rules:\n"
                                 "    - {name: a, when: {sql: \"select $agregateid\"}, then: discard}\n"
                                 "    - {name: b, when: {header: {/a~: x}}, then: discard}\n");
  const auto result = load_config("a.yaml", config::fake_sources({}, {{"a.yaml", text}}));
  ASSERT_FALSE(result);
  std::vector<std::string> faults;
  for (const auto& fault : result.error()) faults.push_back(to_string(fault));
  EXPECT_THAT(faults, ElementsAre("a.yaml:5:29: triage.rules[0].when.sql has the placeholder $agregateid; expected "
                                  "$aggregateid, $aggregatetype, $type, $id, $seq or $key",
                                  "a.yaml:6:32: triage.rules[1].when.header holds /a~, which is no JSON pointer: after "
                                  "~ comes 0 or 1"));
}

TEST(TriageRules, WithoutRuleAndWindowThereIsNoJudge) {
  ports::FakeOutboxStore store;
  EXPECT_EQ(*open_judge(loaded(""), store), nullptr);
  EXPECT_NE(*open_judge(loaded("triage: {replay_window: 24h}\n"), store), nullptr);
}

TEST(TriageRules, EveryConditionAndTheRoutedKeyReachTheJudge) {
  ports::FakeOutboxStore store;
  const auto config = loaded(
      "route: {key: \"{aggregatetype}-{aggregateid}\"}\n"
      "triage:\n"
      "  replay_window: 24h\n"
      "  rules:\n"
      "    - {name: r, when: {type: o*, key: account-a*, header: {t: x}, older_than: 1h, newer_for_key: true, sql: "
      "select 1}, then: discard}\n");
  const auto at = [&](std::int64_t waited) { return model::Timestamp::at(store.now() - waited * 1'000'000); };
  store.insert({.headers = R"({"t":"x"})", .created_at = at(3600)});
  store.insert({.headers = R"({"t":"x"})", .created_at = at(25 * 3600)});
  store.insert({});
  store.answer_queries([](const ports::Predicate&, const ports::AskedRow& row) { return row.seq == 1; });
  const auto judge = open_judge(config, store);
  ASSERT_TRUE(judge) << judge.error().message;
  const auto page = store.open_reader()->read({}, store.open_ledger()->load()->incarnation, {});
  const auto judgements = (*judge)->judge(*page, store.now());
  ASSERT_TRUE(judgements) << judgements.error().message;
  ASSERT_EQ(judgements->size(), 2U);
  EXPECT_EQ((*judgements)[0].verdict, model::Verdict::kDiscard);
  EXPECT_EQ((*judgements)[0].rule, "r");
  EXPECT_EQ((*judgements)[1].rule, "replay_window");
}

}  // namespace
}  // namespace spillway::app
