#include "app/triage_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "app/exit_status.h"
#include "app/triage_rules.h"
#include "app/waiting_rows.h"
#include "config/testing.h"
#include "ports/fake/fake_outbox_store.h"

namespace spillway::app {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr char kRules[] =
    "triage:\n"
    "  replay_window: 24h\n"
    "  rules:\n"
    "    - {name: expired, when: {type: session.*, older_than: 30m}, then: discard}\n"
    "    - {name: settled, when: {type: payment.*, sql: select 1}, then: discard}\n";

struct TriageCommand : testing::Test {
  void insert(const std::string& type, int minutes_ago) {
    store.insert({.type = type, .created_at = model::Timestamp::at(store.now() - minutes_ago * 60'000'000LL)});
  }

  int run(const TriageOptions& options, const std::string& rules = kRules) {
    out.str("");
    err.str("");
    const auto config = config::load_text(config::kComplete + rules, "a.yaml", config::fake_sources()).value().config;
    return run_triage(options, config, store, out, err);
  }

  ports::FakeOutboxStore store;
  std::ostringstream out;
  std::ostringstream err;
};

TEST_F(TriageCommand, CountsByRuleVerdictAndType) {
  insert("session.started", 120);
  insert("session.started", 60);
  insert("session.started", 1);
  insert("payment.made", 25 * 60);
  insert("payment.made", 10);
  store.insert({.type = "payment.made", .created_at = model::Timestamp{}});
  store.answer_queries([](const ports::Predicate&, const ports::AskedRow& row) -> base::Result<bool> {
    if (row.seq == 6) return base::fail(base::ErrorClass::kRejected, "division by zero");
    return row.seq == 5;
  });
  ASSERT_EQ(run({.json = true, .sample = 1}), kExitDone) << err.str();
  const Json json = Json::parse(out.str());
  EXPECT_EQ(json["events"], 6);
  EXPECT_EQ(json["publish"], 1);
  EXPECT_EQ(json["reconcile"], 2);
  EXPECT_EQ(json["discard"], 3);
  std::vector<std::string> groups;
  for (const Json& group : json["groups"]) {
    groups.push_back((group["rule"].is_null() ? "-" : group["rule"].get<std::string>()) + " " +
                     group["verdict"].get<std::string>() + " " + group["type"].get<std::string>() + " " +
                     group["events"].dump() + " " + group["oldest_age_s"].dump() + " " + group["newest_age_s"].dump());
    EXPECT_EQ(group["ids"].size(), 1U);
  }
  EXPECT_THAT(groups, testing::ElementsAre(
                          "- publish session.started 1 60.0 60.0", "expired discard session.started 2 7200.0 3600.0",
                          "replay_window reconcile payment.made 1 90000.0 90000.0",
                          "settled reconcile payment.made 1 null null", "settled discard payment.made 1 600.0 600.0"));
  EXPECT_EQ(json["groups"][3]["reason"], "the rule cannot be judged: division by zero");
}

TEST_F(TriageCommand, SpeaksToPeopleOnOneLineEach) {
  insert("session.started", 120);
  EXPECT_EQ(run({.sample = 1, .progress = true}), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("expired               discard    session.started                         1"));
  EXPECT_THAT(out.str(), HasSubstr("type session.*, older than 30m\n"));
  EXPECT_THAT(out.str(), HasSubstr("1 event: publish 0, reconcile 0, discard 1\n"));
  EXPECT_EQ(err.str(), "\r1 event judged\n");
}

TEST_F(TriageCommand, WithoutRulesEverythingIsPublished) {
  insert("session.started", 120);
  EXPECT_EQ(run({}, ""), kExitDone);
  EXPECT_THAT(out.str(), HasSubstr("1 event: publish 1, reconcile 0, discard 0\n"));
  EXPECT_THAT(err.str(), HasSubstr("neither a rule nor a replay window"));
}

TEST_F(TriageCommand, AnEmptyOutboxIsNoFailure) {
  EXPECT_EQ(run({}), kExitDone);
  EXPECT_EQ(err.str(), "nothing waits\n");
  EXPECT_EQ(run({.json = true}), kExitDone);
  EXPECT_EQ(Json::parse(out.str())["groups"], Json::array());
}

TEST_F(TriageCommand, ARuleThatTheDatabaseRefusesIsWrongConfiguration) {
  store.fail_next(ports::FakeCall::kTriage, {base::ErrorClass::kMisconfigured, "no such table: ledgr"});
  EXPECT_EQ(run({}), kExitWrongUsage);
  EXPECT_EQ(err.str(), "triage rule settled: no such table: ledgr\n");
}

TEST_F(TriageCommand, LinesAreBoundedWhateverTheTypesAre) {
  for (int i = 0; i < 1500; ++i) insert("order-" + std::to_string(i), 1);
  EXPECT_EQ(run({.json = true}), kExitDone);
  const Json json = Json::parse(out.str());
  EXPECT_EQ(json["groups"].size(), 1001U);
  EXPECT_EQ(json["events"], 1500);
}

// Whatever the progress is, exactly what is not finished.
TEST(WaitingRows, CoverTheBacklogAndTheRestOfLiveOnce) {
  ports::FakeOutboxStore store;
  const auto ledger = store.open_ledger();
  const auto reader = store.open_reader();
  const base::Uuid holder{{7}};
  const auto lease = store.open_lease()->acquire(holder, "test", std::chrono::seconds(10));
  const ports::Fence fence{holder, lease->lease.epoch, ledger->load()->incarnation};
  for (int i = 0; i < 20; ++i) store.insert({});
  const auto old = reader->read({}, fence.incarnation, {.rows = 5});
  ports::Progress progress;
  progress.backlog = {{.at = {old->frame, 5}}};
  for (int i = 0; i < 20; ++i) store.insert({});
  const auto live = reader->read({{old->frame.to, ""}, std::nullopt}, fence.incarnation, {.rows = 7});
  progress.live = {live->frame, 27};
  ASSERT_TRUE(ledger->save(fence, {progress, 12, {}}));
  for (int i = 0; i < 3; ++i) store.insert({});
  model::Settlement settled;
  settled.seq = 10;
  ASSERT_TRUE(ledger->record(fence, std::span(&settled, 1)));

  std::vector<std::int64_t> seqs;
  WaitingRows waiting(store, {.rows = 4});
  for (;;) {
    const auto page = waiting.next();
    ASSERT_TRUE(page) << page.error().message;
    if (!*page) break;
    for (const model::Row& row : (*page)->rows) seqs.push_back(row.seq);
  }
  std::vector<std::int64_t> expected;
  for (std::int64_t seq = 6; seq <= 43; ++seq) {
    if (seq != 10 && (seq <= 20 || seq > 27)) expected.push_back(seq);
  }
  EXPECT_EQ(seqs, expected);
}

}  // namespace
}  // namespace spillway::app
