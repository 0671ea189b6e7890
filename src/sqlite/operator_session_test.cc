#include "sqlite/operator_session.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "sqlite/scratch_outbox.h"

namespace spillway::sqlite {
namespace {

using model::SettlementState;
using model::Verdict;
using Seqs = std::vector<std::int64_t>;

using Filter = ports::SettlementFilter;

template <typename Value>
Filter only(Value Filter::*field, std::type_identity_t<Value> value) {
  Filter filter;
  filter.*field = std::move(value);
  return filter;
}

Filter every_state(Filter filter = {}) {
  filter.open_only = false;
  return filter;
}

struct PeopleFile : OutboxFile {
  void settle(std::int64_t seq, Verdict verdict, const std::string& rule = "") {
    const auto page = reader->read_again(Seqs{seq}, fence.incarnation, {});
    const auto& row = page->rows.front();
    model::Settlement made{.seq = seq,
                           .id = row.id,
                           .key = std::string(*row.aggregate_id),
                           .topic = "orders",
                           .type = std::string(row.type),
                           .bytes = 10,
                           .verdict = verdict,
                           .state = SettlementState::kOpen,
                           .rule = rule,
                           .reason = "why",
                           .who = "relay",
                           .since_unix_micros = 0};
    ASSERT_TRUE(ledger->record(fence, std::vector{made}));
  }

  Seqs listed(const ports::SettlementFilter& filter) {
    Seqs seqs;
    const auto found = people->settlements(filter);
    for (const auto& settlement : found.value()) seqs.push_back(settlement.seq);
    return seqs;
  }

  Seqs released() {
    Seqs seqs;
    const auto found = ledger->released(0, 1000);
    for (const auto& settlement : found.value()) seqs.push_back(settlement.seq);
    return seqs;
  }
};

TEST_F(PeopleFile, APauseIsSeenByEverySessionUntilResumed) {
  ASSERT_TRUE(people->pause(ports::Lane::kBacklog, "bank is slow", "ann"));
  ASSERT_TRUE(people->pause(ports::Lane::kAll, "release", "bob"));
  const auto both = store.open_operator()->controls()->pause;
  EXPECT_TRUE(both.all && both.backlog);
  EXPECT_EQ(both.who, "bob");
  EXPECT_GT(both.since_unix_micros, 0);
  ASSERT_TRUE(people->resume(ports::Lane::kAll, "done", "bob"));
  const auto one = store.open_operator()->controls()->pause;
  EXPECT_TRUE(!one.all && one.backlog);
  EXPECT_EQ(one.reason, "bank is slow");
  ASSERT_TRUE(people->resume(ports::Lane::kBacklog, "", "ann"));
  EXPECT_EQ(people->controls()->pause.who, "");
}

TEST_F(PeopleFile, AnOverrideEndsByTheFilesOwnClock) {
  ASSERT_TRUE(people->set_override({.max_total = 500, .lasts = std::chrono::minutes(30), .reason = "r", .who = "ann"}));
  execute(path, "UPDATE spillway_override SET until = until - 30 * 60000 + 5000");
  const auto left = people->controls()->limit;
  ASSERT_TRUE(left);
  EXPECT_LE(left->remaining, std::chrono::seconds(5));
  execute(path, "UPDATE spillway_override SET until = until - 5000");
  EXPECT_FALSE(people->controls()->limit);
  EXPECT_FALSE(people->figures()->limit);
}

TEST_F(PeopleFile, EveryChangeIsAudited) {
  write_events(path, 1);
  settle(1, Verdict::kSetAside);
  ASSERT_TRUE(people->pause(ports::Lane::kBacklog, "slow", "ann"));
  ASSERT_TRUE(people->set_override({.max_total = 500, .reason = "month end", .who = "bob"}));
  ASSERT_TRUE(people->clear_override("over", "bob"));
  ASSERT_TRUE(people->clear_override("nothing to clear", "bob"));
  ASSERT_TRUE(people->resolve({}, Verdict::kDiscard, "stale", "cyd"));
  ASSERT_TRUE(people->resolve({}, Verdict::kDiscard, "nothing left", "cyd"));
  EXPECT_EQ(value_of(path, "SELECT group_concat(who || ' ' || what, ', ') FROM spillway_audit"),
            "ann pause backlog, bob set override, bob clear override, cyd resolve");
  EXPECT_EQ(value_of(path, "SELECT after ->> '$.limit.max_total' FROM spillway_audit WHERE what = 'set override'"),
            "500.0");
  EXPECT_EQ(value_of(path, "SELECT before ->> '$.paused[0]' FROM spillway_audit WHERE what = 'clear override'"),
            "backlog");
  EXPECT_EQ(value_of(path, "SELECT after FROM spillway_audit WHERE what = 'resolve'"),
            R"({"verdict":"discard","rows":1,"first_seq":1,"last_seq":1})");
}

TEST_F(PeopleFile, EachFieldOfTheFilterNarrows) {
  write_events(path, 6);
  settle(1, Verdict::kReconcile, "old");
  settle(2, Verdict::kSetAside);
  settle(3, Verdict::kReconcile, "old");
  const auto id = people->settlements({})->at(1).id;
  EXPECT_EQ(listed({}), (Seqs{1, 2, 3}));
  EXPECT_EQ(listed(only(&Filter::ids, {id, base::random_uuid()})), (Seqs{2}));
  EXPECT_EQ(listed(only(&Filter::rule, "old")), (Seqs{1, 3}));
  EXPECT_EQ(listed(only(&Filter::type, "order.created")), (Seqs{1, 2, 3}));
  EXPECT_EQ(listed(only(&Filter::type, "order.paid")), (Seqs{}));
  EXPECT_EQ(listed(only(&Filter::before_unix_micros, 1)), (Seqs{}));
  EXPECT_EQ(listed(only(&Filter::up_to_seq, 2)), (Seqs{1, 2}));
  EXPECT_EQ(listed(only(&Filter::limit, 1)), (Seqs{1}));
  ASSERT_TRUE(people->resolve(only(&Filter::ids, {id}), Verdict::kDiscard, "stale", "ann"));
  EXPECT_EQ(listed({}), (Seqs{1, 3}));
  EXPECT_EQ(listed(every_state()), (Seqs{1, 2, 3}));
}

TEST_F(PeopleFile, PublishingReleasesAlsoWhatTheKeyStoppedBehindIt) {
  write_events(path, 32);
  settle(1, Verdict::kSetAside);
  settle(11, Verdict::kStopped);
  settle(21, Verdict::kStopped);
  settle(12, Verdict::kStopped);
  const auto id = people->settlements(only(&Filter::limit, 1))->front().id;
  EXPECT_EQ(people->resolve(only(&Filter::ids, {id}), Verdict::kPublish, "fixed", "ann"), 1);
  EXPECT_EQ(released(), (Seqs{1, 11, 21}));
  EXPECT_EQ(people->settlements(every_state(only(&Filter::ids, {id})))->front().who, "ann");
}

TEST_F(PeopleFile, RowsStayStoppedWhileAnEarlierOneIsSetAside) {
  write_events(path, 32);
  settle(1, Verdict::kSetAside);
  settle(11, Verdict::kStopped);
  settle(21, Verdict::kSetAside);
  settle(31, Verdict::kStopped);
  const auto id = people->settlements(only(&Filter::limit, 1))->front().id;
  EXPECT_EQ(people->resolve(only(&Filter::ids, {id}), Verdict::kDiscard, "bad", "ann"), 1);
  EXPECT_EQ(released(), (Seqs{11}));
}

TEST_F(PeopleFile, AResolvedRowIsNotResolvedTwice) {
  write_events(path, 1);
  settle(1, Verdict::kReconcile);
  EXPECT_EQ(people->figures()->reconciled, 1);
  EXPECT_EQ(people->resolve(every_state(), Verdict::kDiscard, "", "ann"), 1);
  EXPECT_EQ(people->resolve(every_state(), Verdict::kPublish, "", "ann"), 0);
  EXPECT_EQ(people->figures()->reconciled, 1) << "a total does not go down";
  EXPECT_EQ(people->figures()->discarded, 1);
  EXPECT_EQ(people->resolve({}, Verdict::kStopped, "", "ann").error().error_class, base::ErrorClass::kRejected);
}

TEST_F(PeopleFile, ShowsTheRowBehindASettlementWhileItIsThere) {
  write_events(path, 1);
  settle(1, Verdict::kSetAside);
  const auto id = people->settlements({})->front().id;
  EXPECT_EQ(people->settled_row(id)->rows.front().payload, "{\"i\":0}");
  execute(path, "DELETE FROM spillway_outbox");
  EXPECT_TRUE(people->settled_row(id)->rows.empty());
}

TEST_F(PeopleFile, FiguresOfANewOutboxAreEmpty) {
  const auto figures = people->figures();
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->waiting_rows, 0);
  EXPECT_FALSE(figures->oldest_age_s);
  EXPECT_FALSE(figures->progress_age_s);
  EXPECT_FALSE(figures->oldest_open_age_s);
  EXPECT_EQ(figures->lease->holder_name, "test");
  EXPECT_GT(*figures->seq_headroom, 0.99);
}

TEST_F(PeopleFile, CountsExactlyUpToTenThousandAndEstimatesBeyond) {
  write_events(path, 10'000);
  execute(path, "DELETE FROM spillway_outbox WHERE seq % 2 = 0");
  auto figures = people->figures();
  EXPECT_EQ(figures->waiting_rows, 5'000);
  EXPECT_FALSE(figures->estimated);
  EXPECT_GT(figures->waiting_bytes, 5'000 * 10);
  write_events(path, 5'000);
  EXPECT_EQ(people->figures()->waiting_rows, 10'000);
  EXPECT_FALSE(people->figures()->estimated);
  write_events(path, 1);
  EXPECT_EQ(people->figures()->waiting_rows, 15'001);
  EXPECT_TRUE(people->figures()->estimated);
}

TEST_F(PeopleFile, WhatWaitsIsTheBacklogAndEverythingAfterLive) {
  write_events(path, 30);
  execute(path, "UPDATE spillway_outbox SET created_at = created_at - 90000 WHERE seq = 4");
  settle(5, Verdict::kSetAside);
  ASSERT_TRUE(ledger->save(
      fence, {.progress = {.live = {{"20", "25"}, 22}, .backlog = {{.at = {{"0", "10"}, 3}}}}, .published = 15}));
  const auto figures = people->figures();
  EXPECT_EQ(figures->waiting_rows, 6 + 8) << "4 and 6 to 10, and 23 to 30";
  EXPECT_NEAR(*figures->oldest_age_s, 90, 30);
  EXPECT_LT(*figures->progress_age_s, 30);
  EXPECT_EQ(figures->open_settlements, 1);
  EXPECT_LT(*figures->oldest_open_age_s, 30);
}

}  // namespace
}  // namespace spillway::sqlite
