// What every OutboxStore holds, whatever is behind it. An implementation's test derives an OutboxBench and
// instantiates:
//
//   INSTANTIATE_TEST_SUITE_P(Postgres, OutboxStoreContract, ::testing::Values([] { return make_bench(); }));
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ports/outbox_store.h"

namespace spillway::ports {

struct NewRow {
  std::string aggregate_id = "a-1";
  std::optional<std::string> payload = R"({"n":1})";
  std::optional<std::string> headers = std::nullopt;  // text of a JSON object
  std::string aggregate_type = "account";
  std::string type = "opened";
};

// One fresh, installed and empty outbox.
class OutboxBench {
 public:
  virtual ~OutboxBench() = default;

  virtual OutboxStore& store() = 0;
  // Written and committed as an application would do it; the row's seq.
  virtual std::int64_t insert(const NewRow& row) = 0;
  // `count` rows in one transaction, keys k-0 … k-9 in turn.
  virtual void insert_many(std::int64_t count, std::size_t payload_bytes) = 0;
  virtual void insert_and_roll_back(const NewRow& row) = 0;
  virtual std::int64_t rows_in_table() = 0;
  // A query that holds for rows with the one aggregateid and raises an error for those with the other.
  virtual Predicate query(const std::string& holds, const std::string& fails) = 0;
};

using MakeOutboxBench = std::function<std::unique_ptr<OutboxBench>()>;

class OutboxStoreContract : public ::testing::TestWithParam<MakeOutboxBench> {
 protected:
  using Seqs = std::vector<std::int64_t>;

  void SetUp() override {
    reader_ = store().open_reader();
    ledger_ = store().open_ledger();
    lease_ = store().open_lease();
    operator_ = store().open_operator();
    incarnation_ = load().incarnation;
  }

  OutboxStore& store() { return bench_->store(); }

  Loaded load() {
    auto loaded = ledger_->load();
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded ? *loaded : Loaded{};
  }

  // A fence that holds.
  Fence own() {
    const base::Uuid holder = base::random_uuid();
    const auto taken = lease_->acquire(holder, "test", std::chrono::seconds(30));
    EXPECT_TRUE(taken) << taken.error().message;
    EXPECT_TRUE(taken->mine);
    return {holder, taken->lease.epoch, incarnation_};
  }

  model::Page read(const model::Position& from, ReadLimits limits = {}) {
    auto page = reader_->read(from, incarnation_, limits);
    EXPECT_TRUE(page) << page.error().message;
    return page ? std::move(*page) : model::Page{};
  }

  // Reads until nothing is known to follow; `at` ends where to go on.
  Seqs read_all(model::Position& at, ReadLimits limits = {}) {
    Seqs seqs;
    for (bool more = true; more;) {
      const model::Page page = read(at, limits);
      EXPECT_LE(page.rows.size(), limits.rows);
      for (const model::Row& row : page.rows) seqs.push_back(row.seq);
      at = page.next;
      more = page.more || !page.rows.empty();
    }
    return seqs;
  }

  static Seqs seqs_of(const model::Page& page) {
    Seqs seqs;
    for (const model::Row& row : page.rows) seqs.push_back(row.seq);
    return seqs;
  }

  static model::Settlement settlement(std::int64_t seq, model::Verdict verdict, const std::string& key = "a-1") {
    model::Settlement s;
    s.seq = seq;
    s.id = base::random_uuid();
    s.key = key;
    s.topic = "topic-1";
    s.type = "opened";
    s.bytes = 7;
    s.verdict = verdict;
    s.state = verdict == model::Verdict::kDiscard ? model::SettlementState::kDone : model::SettlementState::kOpen;
    s.rule = "rule-1";
    s.reason = "because it's \"so\"";
    s.who = "relay";
    return s;
  }

  void record(const Fence& fence, const std::vector<model::Settlement>& settlements) {
    const auto status = ledger_->record(fence, settlements);
    EXPECT_TRUE(status) << status.error().message;
  }

  std::int64_t resolve(const SettlementFilter& filter, model::Verdict verdict) {
    const auto changed = operator_->resolve(filter, verdict, "looked at it", "ann");
    EXPECT_TRUE(changed) << changed.error().message;
    return changed.value_or(-1);
  }

  Seqs released() {
    const auto found = ledger_->released(0, 100);
    EXPECT_TRUE(found) << found.error().message;
    Seqs seqs;
    for (const auto& s : found.value_or(std::vector<model::Settlement>{})) seqs.push_back(s.seq);
    return seqs;
  }

  static AskedRow asked(std::int64_t seq, std::string_view aggregate_id, std::string_view type = "opened",
                        std::string_view aggregate_type = "account") {
    return {.seq = seq, .aggregate_type = aggregate_type, .aggregate_id = aggregate_id, .type = type};
  }

  std::vector<std::size_t> newer(const std::vector<AskedRow>& rows) {
    const auto found = store().open_triage()->newer_for_key(rows);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(std::vector<std::size_t>{});
  }

  template <typename Answer>
  static base::ErrorClass class_of(const Answer& answer) {
    EXPECT_FALSE(answer.has_value());
    return answer ? base::ErrorClass::kFatal : answer.error().error_class;
  }

  std::unique_ptr<OutboxBench> bench_ = GetParam()();
  std::unique_ptr<OutboxReader> reader_;
  std::unique_ptr<OutboxLedger> ledger_;
  std::unique_ptr<LeaseSession> lease_;
  std::unique_ptr<OperatorSession> operator_;
  std::string incarnation_;
};

// Reading

TEST_P(OutboxStoreContract, AFreshOutboxIsEmptyAndPassesInspection) {
  EXPECT_TRUE(store().inspect());
  model::Position at = load().progress.live;
  EXPECT_EQ(read_all(at), Seqs{});
  EXPECT_FALSE(store().describe().empty());
}

TEST_P(OutboxStoreContract, RowsArriveInOrderWithEveryField) {
  NewRow first;
  first.aggregate_id = "a-é";
  first.headers = R"({"h": "v"})";
  const std::int64_t a = bench_->insert(first);
  NewRow second;
  second.payload = std::nullopt;
  const std::int64_t b = bench_->insert(second);
  NewRow third;
  third.payload = "";
  const std::int64_t c = bench_->insert(third);
  NewRow fourth;
  fourth.payload = "null";
  bench_->insert(fourth);

  const model::Page page = read({});
  ASSERT_EQ(page.rows.size(), 4U);
  EXPECT_EQ(page.rows[0].seq, a);
  EXPECT_EQ(page.rows[0].aggregate_type, "account");
  EXPECT_EQ(page.rows[0].aggregate_id, "a-é");
  EXPECT_EQ(page.rows[0].type, "opened");
  EXPECT_EQ(page.rows[0].payload, R"({"n":1})");
  EXPECT_EQ(page.rows[0].headers, R"({"h": "v"})");
  EXPECT_EQ(page.rows[0].created_at.kind, model::Timestamp::Kind::kFinite);
  EXPECT_NEAR(static_cast<double>(page.rows[0].created_at.unix_micros), static_cast<double>(page.db_now_micros), 60e6);
  EXPECT_NE(page.rows[0].id, base::Uuid{});
  EXPECT_NE(page.rows[0].id, page.rows[1].id);
  EXPECT_EQ(page.rows[1].seq, b);
  EXPECT_FALSE(page.rows[1].payload);
  EXPECT_FALSE(page.rows[1].headers);
  EXPECT_EQ(page.rows[2].seq, c);
  EXPECT_EQ(page.rows[2].payload, "");
  EXPECT_EQ(page.rows[3].payload, "null");
}

TEST_P(OutboxStoreContract, PagesCoverEveryRowOnceWhateverTheirSize) {
  bench_->insert_many(1000, 10);
  for (const std::size_t rows : {1000U, 999U, 333U, 64U, 7U}) {
    model::Position at;
    const Seqs seqs = read_all(at, {rows, 1 << 20});
    EXPECT_EQ(seqs.size(), 1000U) << rows;
    EXPECT_TRUE(std::ranges::is_sorted(seqs)) << rows;
    EXPECT_EQ(std::set(seqs.begin(), seqs.end()).size(), 1000U) << rows;
    EXPECT_EQ(read_all(at), Seqs{});
  }
}

TEST_P(OutboxStoreContract, APageStopsAfterTheRowThatPassesTheByteLimit) {
  bench_->insert_many(20, 1000);
  model::Position at;
  std::size_t total = 0;
  while (total < 20) {
    const model::Page page = read(at, {100, 2500});
    std::size_t bytes = 0;
    for (std::size_t i = 0; i + 1 < page.rows.size(); ++i) bytes += page.rows[i].bytes();
    EXPECT_LT(bytes, 2500U);
    if (page.rows.empty()) {
      ASSERT_TRUE(page.more);
    }
    total += page.rows.size();
    at = page.next;
  }
  EXPECT_EQ(total, 20U);
}

TEST_P(OutboxStoreContract, ARowLargerThanTheLimitComesAlone) {
  NewRow large;
  large.payload = std::string(3 << 20, 'x');
  const std::int64_t a = bench_->insert(large);
  const std::int64_t b = bench_->insert({});
  model::Position at;
  EXPECT_EQ(read_all(at, {100, 1000}), (Seqs{a, b}));
}

TEST_P(OutboxStoreContract, ThePositionAfterAnyRowLeadsToTheNext) {
  if (store().marks_rows()) GTEST_SKIP() << "a position does not outlive its reader";
  bench_->insert_many(50, 10);
  model::Position all_at;
  const Seqs all = read_all(all_at);
  model::Position at;
  const model::Page page = read(at, {20, 1 << 20});
  ASSERT_FALSE(page.rows.empty());
  const std::size_t taken = page.rows.size() / 2;
  model::Position after{page.frame, page.rows[taken - 1].seq};
  const Seqs rest = read_all(after, {7, 1 << 20});
  EXPECT_EQ(rest, Seqs(all.begin() + static_cast<std::ptrdiff_t>(taken), all.end()));
}

TEST_P(OutboxStoreContract, LaterRowsFollowAtTheEnd) {
  model::Position at;
  const std::int64_t a = bench_->insert({});
  EXPECT_EQ(read_all(at), Seqs{a});
  bench_->insert_and_roll_back({});
  EXPECT_EQ(read_all(at), Seqs{});
  const std::int64_t b = bench_->insert({});
  EXPECT_EQ(read_all(at), Seqs{b});
}

TEST_P(OutboxStoreContract, RowsAreReadAgainBySeqAndMissingOnesAreLeftOut) {
  const std::int64_t a = bench_->insert({});
  const std::int64_t b = bench_->insert({});
  const std::int64_t c = bench_->insert({});
  const Seqs wanted{a, c, c + 1000};
  const auto page = reader_->read_again(wanted, incarnation_, {});
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->rows.size(), 2U);
  EXPECT_EQ(page->rows[0].seq, a);
  EXPECT_EQ(page->rows[1].seq, c);
  EXPECT_FALSE(page->more);

  const auto first = reader_->read_again(Seqs{a, b, c}, incarnation_, {2, 1 << 20});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->rows.size(), 2U);
  EXPECT_TRUE(first->more);
}

TEST_P(OutboxStoreContract, AnotherIncarnationMeansALostPlace) {
  bench_->insert({});
  EXPECT_EQ(class_of(reader_->read({}, incarnation_ + "9", {})), base::ErrorClass::kLostPlace);
  EXPECT_EQ(class_of(reader_->read_again(Seqs{1}, incarnation_ + "9", {})), base::ErrorClass::kLostPlace);
}

// Progress and the fence

TEST_P(OutboxStoreContract, ProgressComesBackAsItWasSaved) {
  if (store().marks_rows()) GTEST_SKIP() << "the table itself says what is finished";
  EXPECT_EQ(load().progress, Progress{});
  const Fence fence = own();
  bench_->insert_many(30, 10);
  const model::Page page = read({}, {10, 1 << 20});
  ASSERT_FALSE(page.rows.empty());
  Progress progress;
  progress.live = {page.frame, page.rows.back().seq};
  ASSERT_TRUE(ledger_->save(fence, {progress, 10, {}}));
  EXPECT_EQ(load().progress, progress);

  progress.live = page.next;
  ASSERT_TRUE(ledger_->save(fence, {progress, 5, {}}));
  progress.read_up_to_unix_micros = page.db_now_micros;
  progress.capacity = 512.25;
  progress.backlog = {{.at = {page.frame, 3}, .began_unix_micros = page.db_now_micros + 1},
                      {.at = {page.frame, std::nullopt}, .began_unix_micros = page.db_now_micros, .judged = 7}};
  ASSERT_TRUE(ledger_->save(fence, {progress, 0, {}}));
  EXPECT_EQ(store().open_ledger()->load()->progress, progress);
  EXPECT_EQ(operator_->figures()->published, 15);
}

TEST_P(OutboxStoreContract, TheTimeIsThatOfTheStore) {
  const std::int64_t loaded = load().db_now_micros;
  EXPECT_LE(std::abs(read({}).db_now_micros - loaded), 5'000'000);
}

TEST_P(OutboxStoreContract, ReadingGoesOnFromTheSavedPosition) {
  if (store().marks_rows()) GTEST_SKIP() << "a position does not outlive its reader";
  const Fence fence = own();
  bench_->insert_many(30, 10);
  model::Position at;
  const Seqs all = read_all(at);
  const model::Page page = read({}, {11, 1 << 20});
  ASSERT_TRUE(ledger_->save(fence, {.progress = {.live = {page.frame, page.rows.back().seq}}}));
  model::Position saved = store().open_ledger()->load()->progress.live;
  EXPECT_EQ(read_all(saved).size(), all.size() - page.rows.size());
}

TEST_P(OutboxStoreContract, WritesUnderAForeignLeaseChangeNothing) {
  const Fence fence = own();
  Fence stranger = fence;
  stranger.holder = base::random_uuid();
  Fence older = fence;
  older.epoch -= 1;
  Progress progress;
  progress.live.last_seq = 17;
  const std::vector<model::Settlement> settlements{settlement(1, model::Verdict::kSetAside)};
  for (const Fence& wrong : {stranger, older}) {
    EXPECT_EQ(class_of(ledger_->save(wrong, {progress, 1, {}})), base::ErrorClass::kLostLease);
    EXPECT_EQ(class_of(ledger_->record(wrong, settlements)), base::ErrorClass::kLostLease);
    EXPECT_EQ(class_of(ledger_->finish(wrong, Seqs{1})), base::ErrorClass::kLostLease);
    EXPECT_EQ(class_of(ledger_->clean_up(wrong, std::chrono::seconds(0), 100)), base::ErrorClass::kLostLease);
    EXPECT_EQ(class_of(ledger_->release_keys(wrong, std::vector<std::string>{"a-1"})), base::ErrorClass::kLostLease);
  }
  EXPECT_EQ(load().progress, Progress{});
  EXPECT_TRUE(operator_->settlements({})->empty());
}

TEST_P(OutboxStoreContract, WritesInAnotherIncarnationChangeNothing) {
  Fence fence = own();
  fence.incarnation += "9";
  Progress progress;
  progress.live.last_seq = 17;
  const std::vector<model::Settlement> settlements{settlement(1, model::Verdict::kSetAside)};
  EXPECT_EQ(class_of(ledger_->save(fence, {progress, 1, {}})), base::ErrorClass::kLostPlace);
  EXPECT_EQ(class_of(ledger_->record(fence, settlements)), base::ErrorClass::kLostPlace);
  EXPECT_EQ(class_of(ledger_->clean_up(fence, std::chrono::seconds(0), 100)), base::ErrorClass::kLostPlace);
  EXPECT_EQ(load().progress, Progress{});
  EXPECT_TRUE(operator_->settlements({})->empty());
}

// The lease

TEST_P(OutboxStoreContract, OneHolderAtATime) {
  const base::Uuid a = base::random_uuid();
  const base::Uuid b = base::random_uuid();
  const auto first = lease_->acquire(a, "host-a", std::chrono::seconds(30));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->mine);
  EXPECT_GT(first->expires_in.count(), 20000);

  const auto second = store().open_lease()->acquire(b, "host-b", std::chrono::seconds(30));
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->mine);
  EXPECT_EQ(second->lease.holder, a);
  EXPECT_EQ(second->lease.epoch, first->lease.epoch);
  EXPECT_EQ(second->holder_name, "host-a");

  EXPECT_TRUE(lease_->renew(first->lease, std::chrono::seconds(30)));
  EXPECT_EQ(class_of(lease_->renew({b, first->lease.epoch}, std::chrono::seconds(30))), base::ErrorClass::kLostLease);
  EXPECT_TRUE(lease_->release({b, first->lease.epoch}));  // not ours: nothing happens
  EXPECT_TRUE(lease_->renew(first->lease, std::chrono::seconds(30)));
}

TEST_P(OutboxStoreContract, TheEpochRisesWithEveryChangeOfHolder) {
  const base::Uuid a = base::random_uuid();
  const base::Uuid b = base::random_uuid();
  const auto first = lease_->acquire(a, "a", std::chrono::seconds(30));
  ASSERT_TRUE(first);
  EXPECT_EQ(lease_->acquire(a, "a", std::chrono::seconds(30))->lease.epoch, first->lease.epoch);
  ASSERT_TRUE(lease_->release(first->lease));
  EXPECT_EQ(class_of(lease_->renew(first->lease, std::chrono::seconds(30))), base::ErrorClass::kLostLease);
  const auto second = lease_->acquire(b, "b", std::chrono::milliseconds(0));
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->mine);
  EXPECT_GT(second->lease.epoch, first->lease.epoch);
  const auto third = lease_->acquire(a, "a", std::chrono::seconds(30));  // b's has run out at once
  ASSERT_TRUE(third);
  EXPECT_TRUE(third->mine);
  EXPECT_GT(third->lease.epoch, second->lease.epoch);
  EXPECT_EQ(class_of(lease_->renew(second->lease, std::chrono::seconds(30))), base::ErrorClass::kLostLease);
  EXPECT_EQ(operator_->figures()->lease->lease.epoch, third->lease.epoch);
}

// Settlements

TEST_P(OutboxStoreContract, RecordedRowsAreLeftOutOfEveryPage) {
  const Fence fence = own();
  const std::int64_t a = bench_->insert({});
  const std::int64_t b = bench_->insert({});
  const std::int64_t c = bench_->insert({});
  record(fence, {settlement(b, model::Verdict::kSetAside)});
  model::Position at;
  EXPECT_EQ(read_all(at), (Seqs{a, c}));
  at = {};
  EXPECT_EQ(read_all(at, {1, 1 << 20}), (Seqs{a, c}));
}

TEST_P(OutboxStoreContract, ASettlementComesBackWithEveryField) {
  const Fence fence = own();
  const std::int64_t a = bench_->insert({});
  model::Settlement written = settlement(a, model::Verdict::kSetAside);
  record(fence, {written});
  record(fence, {written});  // again, as after a lost answer
  const auto found = operator_->settlements({});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  const model::Settlement& s = found->front();
  EXPECT_EQ(s.seq, written.seq);
  EXPECT_EQ(s.id, written.id);
  EXPECT_EQ(s.key, written.key);
  EXPECT_EQ(s.topic, written.topic);
  EXPECT_EQ(s.type, written.type);
  EXPECT_EQ(s.bytes, written.bytes);
  EXPECT_EQ(s.verdict, written.verdict);
  EXPECT_EQ(s.state, written.state);
  EXPECT_EQ(s.rule, written.rule);
  EXPECT_EQ(s.reason, written.reason);
  EXPECT_EQ(s.who, written.who);
  EXPECT_GT(s.since_unix_micros, 0);
  const auto row = operator_->settled_row(written.id);
  ASSERT_TRUE(row);
  ASSERT_EQ(row->rows.size(), 1U);
  EXPECT_EQ(row->rows[0].payload, R"({"n":1})");
  EXPECT_TRUE(operator_->settled_row(base::random_uuid())->rows.empty());
}

TEST_P(OutboxStoreContract, AnyRowIsFoundByItsIdWithWhetherItWaits) {
  const Fence fence = own();
  bench_->insert_many(5, 10);
  const model::Page page = read({}, {.rows = 3});
  ASSERT_GE(page.rows.size(), 2U);
  const std::size_t last = page.rows.size() - 1;
  auto found = operator_->whereabouts(page.rows[last].id);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(*found);
  EXPECT_TRUE((*found)->waiting);
  EXPECT_EQ((*found)->page.rows.front().seq, page.rows[last].seq);
  EXPECT_EQ((*found)->page.rows.front().payload, page.rows[last].payload);
  EXPECT_FALSE(*operator_->whereabouts(base::random_uuid()));

  Progress progress;
  progress.live = {page.frame, page.rows[last - 1].seq};
  Seqs finished = seqs_of(page);
  finished.pop_back();
  ASSERT_TRUE(ledger_->save(fence, {progress, 1, finished}));
  const auto done = operator_->whereabouts(page.rows[0].id);
  ASSERT_TRUE(done) << done.error().message;
  if (*done) {
    EXPECT_FALSE((*done)->waiting);
  } else {
    EXPECT_TRUE(store().marks_rows()) << "deleted rows are gone, others are not";
  }
  EXPECT_TRUE((*operator_->whereabouts(page.rows[last].id))->waiting);
  const std::int64_t later = bench_->insert({});
  model::Position at{page.frame, page.rows[last].seq};
  for (bool more = true; more;) {
    const model::Page rest = read(at);
    for (const model::Row& row : rest.rows) {
      EXPECT_TRUE((*operator_->whereabouts(row.id))->waiting) << row.seq << " of " << later;
    }
    at = rest.next;
    more = rest.more || !rest.rows.empty();
  }
}

TEST_P(OutboxStoreContract, SettlementsAreNarrowedByEveryField) {
  const Fence fence = own();
  auto one = settlement(1, model::Verdict::kSetAside, "k1");
  auto two = settlement(2, model::Verdict::kReconcile, "k2");
  two.rule = "old";
  two.type = "closed";
  auto three = settlement(3, model::Verdict::kDiscard, "k3");
  record(fence, {one, two, three});
  const auto seqs = [&](const SettlementFilter& filter) {
    Seqs out;
    const auto found = operator_->settlements(filter);
    EXPECT_TRUE(found) << found.error().message;
    for (const auto& s : *found) out.push_back(s.seq);
    return out;
  };
  EXPECT_EQ(seqs({}), (Seqs{1, 2}));
  EXPECT_EQ(seqs({.open_only = false}), (Seqs{1, 2, 3}));
  EXPECT_EQ(seqs({.ids = {two.id}}), Seqs{2});
  EXPECT_EQ(seqs({.rule = "old"}), Seqs{2});
  EXPECT_EQ(seqs({.type = "closed"}), Seqs{2});
  EXPECT_EQ(seqs({.up_to_seq = 1}), Seqs{1});
  EXPECT_EQ(seqs({.before_unix_micros = 1000}), Seqs{});
  EXPECT_EQ(seqs({.limit = 1}), Seqs{1});
}

TEST_P(OutboxStoreContract, APublishedSettlementIsReleasedThenFinished) {
  const Fence fence = own();
  const auto one = settlement(bench_->insert({}), model::Verdict::kSetAside);
  const auto two = settlement(bench_->insert({}), model::Verdict::kSetAside, "other");
  record(fence, {one, two});
  EXPECT_EQ(released(), Seqs{});
  EXPECT_EQ(resolve({.ids = {one.id}}, model::Verdict::kPublish), 1);
  EXPECT_EQ(resolve({.ids = {one.id}}, model::Verdict::kPublish), 0);
  EXPECT_EQ(released(), Seqs{one.seq});
  EXPECT_TRUE(ledger_->finish(fence, Seqs{one.seq}));
  EXPECT_EQ(released(), Seqs{});
  const auto open = operator_->settlements({});
  ASSERT_EQ(open->size(), 1U);
  EXPECT_EQ(open->front().seq, two.seq);
  model::Position at;
  EXPECT_EQ(read_all(at), Seqs{});
}

TEST_P(OutboxStoreContract, AReconciledRowWaitsForAPersonOnceItIsOnItsTopic) {
  const Fence fence = own();
  auto row = settlement(4, model::Verdict::kReconcile);
  row.state = model::SettlementState::kReleased;
  record(fence, {row});
  EXPECT_EQ(released(), Seqs{4});
  EXPECT_TRUE(ledger_->held_keys(Holds::kStopKeyToo)->empty()) << "it holds nobody up";
  EXPECT_EQ(operator_->figures()->open_settlements, 0);
  EXPECT_TRUE(ledger_->finish(fence, Seqs{4}));
  EXPECT_EQ(released(), Seqs{});
  const auto open = operator_->settlements({});
  ASSERT_EQ(open->size(), 1U);
  EXPECT_EQ(open->front().verdict, model::Verdict::kReconcile);
  EXPECT_EQ(open->front().rule, "rule-1");
}

TEST_P(OutboxStoreContract, ADiscardedSettlementIsHistory) {
  const Fence fence = own();
  const auto one = settlement(bench_->insert({}), model::Verdict::kReconcile);
  record(fence, {one});
  EXPECT_EQ(operator_->figures()->open_settlements, 1);
  EXPECT_EQ(resolve({.ids = {one.id}}, model::Verdict::kDiscard), 1);
  EXPECT_EQ(released(), Seqs{});
  const auto all = operator_->settlements({.open_only = false});
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ(all->front().verdict, model::Verdict::kDiscard);
  EXPECT_EQ(all->front().state, model::SettlementState::kDone);
  EXPECT_EQ(all->front().who, "ann");
  EXPECT_EQ(operator_->figures()->open_settlements, 0);
  EXPECT_EQ(operator_->figures()->reconciled, 1) << "a total does not go down";
  EXPECT_EQ(operator_->figures()->discarded, 1);
}

TEST_P(OutboxStoreContract, StoppedRowsFollowTheRowThatStoppedThem) {
  const Fence fence = own();
  auto head = settlement(1, model::Verdict::kSetAside, "k");
  auto behind = settlement(2, model::Verdict::kStopped, "k");
  auto other = settlement(3, model::Verdict::kStopped, "x");
  record(fence, {head, behind, other});
  auto held = ledger_->held_keys(Holds::kStopKeyToo);
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_EQ(*held, (std::vector<HeldKey>{{"k", 1, 1, true}, {"x", 3, 3}}));
  EXPECT_EQ(resolve({.ids = {head.id}}, model::Verdict::kDiscard), 1) << "those behind it are not counted";
  EXPECT_EQ(released(), Seqs{2});
  EXPECT_EQ(*ledger_->release_keys(fence, std::vector<std::string>{"x"}), 1);
  EXPECT_EQ(released(), (Seqs{2, 3}));
  held = ledger_->held_keys(Holds::kStopKeyToo);
  EXPECT_EQ(*held, (std::vector<HeldKey>{{"k", 2}, {"x", 3}})) << "until they are finished";
  EXPECT_TRUE(ledger_->finish(fence, Seqs{2, 3}));
  EXPECT_TRUE(ledger_->held_keys(Holds::kStopKeyToo)->empty());
}

TEST_P(OutboxStoreContract, WaitingRowsHoldTheirKeyAndNeedNobody) {
  const Fence fence = own();
  record(fence, {settlement(1, model::Verdict::kSetAside, "a"), settlement(2, model::Verdict::kWaiting, "k"),
                 settlement(3, model::Verdict::kWaiting, "x"), settlement(4, model::Verdict::kWaiting, "x")});
  EXPECT_EQ(*ledger_->held_keys(Holds::kWaiting), (std::vector<HeldKey>{{"k", 2, 2}, {"x", 3, 3}}));
  EXPECT_EQ(*ledger_->held_keys(Holds::kStopKeyToo),
            (std::vector<HeldKey>{{"a", 1, 1, true}, {"k", 2, 2}, {"x", 3, 3}}));
  EXPECT_EQ(operator_->figures()->open_settlements, 1);
  EXPECT_EQ(operator_->figures()->behind_their_key, 3);
  EXPECT_EQ(operator_->settlements({})->size(), 1U);
  EXPECT_EQ(*ledger_->release_keys(fence, std::vector<std::string>{"x", "quoted \"\\key", "a"}), 2);
  EXPECT_EQ(released(), (Seqs{3, 4}));
  EXPECT_EQ(*ledger_->held_keys(Holds::kWaiting), (std::vector<HeldKey>{{"k", 2, 2}, {"x", 3}}));
  EXPECT_EQ(operator_->figures()->behind_their_key, 3) << "until they are finished";
  EXPECT_TRUE(ledger_->finish(fence, Seqs{3, 4}));
  EXPECT_EQ(*ledger_->held_keys(Holds::kWaiting), (std::vector<HeldKey>{{"k", 2, 2}}));
  EXPECT_EQ(operator_->figures()->behind_their_key, 1);
}

TEST_P(OutboxStoreContract, KeysAreFoundBeyondAPlace) {
  ASSERT_TRUE(store().inspect());
  if (!store().finds_keys()) GTEST_SKIP() << "no index leads to the rows of a key";
  for (const char* key : {"a", "b", "a", "it's \"\\odd\"", "c"}) bench_->insert({.aggregate_id = key});
  const model::Page page = read({});
  ASSERT_EQ(page.rows.size(), 5U);
  bench_->insert({.aggregate_id = "later"});
  const std::vector<KeyBefore> keys{
      {"c"}, {"b"}, {"later"}, {"none"}, {"it's \"\\odd\""}, {"a"}, {"c", page.rows[4].seq}};
  const auto behind = [&](std::optional<std::int64_t> last) {
    const std::vector<model::Position> places{{page.frame, last}};
    auto found = reader_->keys_behind(keys, places, incarnation_);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(std::vector<std::size_t>{99});
  };
  using Found = std::vector<std::size_t>;
  EXPECT_EQ(behind(std::nullopt), (Found{0, 1, 4, 5}));
  EXPECT_EQ(behind(page.rows[1].seq), (Found{0, 4, 5}));
  EXPECT_EQ(behind(page.rows[3].seq), Found{0});
  EXPECT_EQ(behind(page.rows[4].seq), Found{});
  record(own(), {settlement(page.rows[4].seq, model::Verdict::kDiscard, "c")});
  EXPECT_EQ(behind(page.rows[3].seq), Found{}) << "what is in the ledger does not count";
}

TEST_P(OutboxStoreContract, TheRowsOfKeysComeKeyByKey) {
  ASSERT_TRUE(store().inspect());
  if (!store().finds_keys()) GTEST_SKIP() << "no index leads to the rows of a key";
  for (const char* key : {"a", "b", "a", "b", "a"}) bench_->insert({.aggregate_id = key});
  const model::Page page = read({});
  bench_->insert({.aggregate_id = "a"});
  const auto rows = [&](std::int64_t after, std::optional<std::int64_t> last, ReadLimits limits) {
    const std::vector<KeyAfter> keys{{"b", 0}, {"none", 0}, {"a", after}};
    const std::vector<model::Position> places{{page.frame, last}};
    auto found = reader_->read_keys(keys, places, incarnation_, limits);
    EXPECT_TRUE(found) << found.error().message;
    return found ? std::move(*found) : model::Page{};
  };
  const auto seq = [&page](std::size_t row) { return page.rows[row].seq; };
  EXPECT_EQ(seqs_of(rows(0, std::nullopt, {})), (Seqs{seq(1), seq(3), seq(0), seq(2), seq(4)}));
  EXPECT_EQ(seqs_of(rows(seq(2), std::nullopt, {})), (Seqs{seq(1), seq(3), seq(4)}));
  EXPECT_EQ(seqs_of(rows(0, seq(1), {})), (Seqs{seq(3), seq(2), seq(4)}));
  const model::Page cut = rows(0, std::nullopt, {.rows = 3});
  EXPECT_EQ(seqs_of(cut), (Seqs{seq(1), seq(3), seq(0)}));
  EXPECT_TRUE(cut.more);
  EXPECT_EQ(cut.rows.back().aggregate_id, "a");
}

// Cleaning up

TEST_P(OutboxStoreContract, CleaningRemovesFinishedRowsOnly) {
  if (store().marks_rows()) GTEST_SKIP() << "rows go as they are acknowledged";
  const Fence fence = own();
  bench_->insert_many(30, 10);
  EXPECT_EQ(*ledger_->clean_up(fence, std::chrono::seconds(0), 100), 0);
  model::Position at;
  const Seqs seqs = read_all(at);
  record(fence, {settlement(seqs[3], model::Verdict::kSetAside), settlement(seqs[4], model::Verdict::kDiscard)});
  const std::int64_t late = bench_->insert({});
  ASSERT_TRUE(ledger_->save(fence, {{at, {}}, 30, {}}));
  EXPECT_EQ(*ledger_->clean_up(fence, std::chrono::hours(1), 100), 0);
  std::int64_t removed = 0;
  for (int i = 0; i < 20; ++i) {
    const auto piece = ledger_->clean_up(fence, std::chrono::seconds(0), 10);
    ASSERT_TRUE(piece) << piece.error().message;
    EXPECT_LE(*piece, 10);
    removed += *piece;
  }
  EXPECT_EQ(removed, 29);
  EXPECT_EQ(bench_->rows_in_table(), 2);
  EXPECT_EQ(read_all(at), Seqs{late});
}

// People

TEST_P(OutboxStoreContract, APauseLastsUntilItsLaneIsResumed) {
  EXPECT_FALSE(operator_->controls()->pause.all);
  ASSERT_TRUE(operator_->pause(Lane::kBacklog, "bank is down", "ann"));
  auto controls = store().open_operator()->controls();
  ASSERT_TRUE(controls) << controls.error().message;
  EXPECT_FALSE(controls->pause.all);
  EXPECT_TRUE(controls->pause.backlog);
  EXPECT_EQ(controls->pause.reason, "bank is down");
  EXPECT_EQ(controls->pause.who, "ann");
  EXPECT_GT(controls->pause.since_unix_micros, 0);
  ASSERT_TRUE(operator_->pause(Lane::kAll, "all of it", "bob"));
  EXPECT_TRUE(operator_->figures()->pause.all);
  ASSERT_TRUE(operator_->resume(Lane::kAll, "over", "bob"));
  controls = operator_->controls();
  EXPECT_FALSE(controls->pause.all);
  EXPECT_TRUE(controls->pause.backlog);
  ASSERT_TRUE(operator_->resume(Lane::kBacklog, "over", "ann"));
  EXPECT_FALSE(operator_->controls()->pause.backlog);
}

TEST_P(OutboxStoreContract, AnOverrideIsSeenByEverySessionUntilItIsCleared) {
  EXPECT_FALSE(operator_->controls()->limit);
  EXPECT_TRUE(operator_->clear_override("none there", "ann"));
  ASSERT_TRUE(operator_->pause(Lane::kBacklog, "bank is down", "ann"));
  const OverrideRequest request{
      .max_total = 512.25, .lasts = std::chrono::minutes(30), .reason = "month's \"end\"", .who = "ann"};
  const auto set = operator_->set_override(request);
  ASSERT_TRUE(set) << set.error().message;
  const auto controls = store().open_operator()->controls();
  ASSERT_TRUE(controls) << controls.error().message;
  EXPECT_TRUE(controls->pause.backlog);
  EXPECT_EQ(controls->pause.reason, "bank is down");
  ASSERT_TRUE(controls->limit);
  EXPECT_EQ(controls->limit->max_total, 512.25);
  EXPECT_EQ(controls->limit->reason, request.reason);
  EXPECT_EQ(controls->limit->who, "ann");
  EXPECT_GT(controls->limit->since_unix_micros, 0);
  EXPECT_LE(controls->limit->remaining, request.lasts);
  EXPECT_GT(controls->limit->remaining, request.lasts - std::chrono::minutes(5));
  EXPECT_TRUE(operator_->figures()->limit);
  ASSERT_TRUE(operator_->clear_override("over", "bob"));
  EXPECT_FALSE(store().open_operator()->controls()->limit);
  EXPECT_FALSE(operator_->figures()->limit);
  EXPECT_TRUE(operator_->controls()->pause.backlog);
}

TEST_P(OutboxStoreContract, TheLastOverrideIsTheOneInForce) {
  ASSERT_TRUE(operator_->set_override({.max_total = 0, .lasts = kLongestOverride, .reason = "stop", .who = "ann"}));
  EXPECT_EQ(operator_->controls()->limit->max_total, 0);
  ASSERT_TRUE(operator_->set_override({.reason = "stay as you are", .who = "bob"}));
  const auto limit = operator_->controls()->limit;
  ASSERT_TRUE(limit);
  EXPECT_FALSE(limit->max_total) << "a hold has no number";
  EXPECT_EQ(limit->who, "bob");
  EXPECT_LE(limit->remaining, kDefaultOverride);
}

TEST_P(OutboxStoreContract, AnOverrideWithoutAnEndOrAReasonIsRefused) {
  using std::chrono::milliseconds;
  const auto refused = [&](OverrideRequest request) {
    request.who = "ann";
    return class_of(operator_->set_override(request)) == base::ErrorClass::kRejected;
  };
  EXPECT_TRUE(refused({.max_total = 100}));
  EXPECT_TRUE(refused({.max_total = -1, .reason = "r"}));
  EXPECT_TRUE(refused({.max_total = std::numeric_limits<double>::infinity(), .reason = "r"}));
  EXPECT_TRUE(refused({.lasts = milliseconds(0), .reason = "r"}));
  EXPECT_TRUE(refused({.lasts = kLongestOverride + milliseconds(1), .reason = "r"}));
  EXPECT_FALSE(operator_->controls()->limit);
}

TEST_P(OutboxStoreContract, FiguresCountWhatWaits) {
  const Fence fence = own();
  auto figures = operator_->figures();
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(figures->waiting_rows, 0);
  EXPECT_FALSE(figures->oldest_age_s);
  EXPECT_FALSE(figures->progress_age_s);
  bench_->insert_many(40, 100);
  figures = operator_->figures();
  EXPECT_EQ(figures->waiting_rows, 40);
  EXPECT_FALSE(figures->estimated);
  ASSERT_TRUE(figures->oldest_age_s);
  EXPECT_GE(*figures->oldest_age_s, 0);
  EXPECT_GE(figures->waiting_bytes, 4000);
  const model::Page page = read({}, {15, 1 << 20});
  ASSERT_TRUE(ledger_->save(fence, {{{page.frame, page.rows.back().seq}, {}}, 15, seqs_of(page)}));
  figures = operator_->figures();
  EXPECT_EQ(figures->waiting_rows, 40 - static_cast<std::int64_t>(page.rows.size()));
  ASSERT_TRUE(figures->progress_age_s);
  EXPECT_LT(*figures->progress_age_s, 60);
  model::Position at{page.frame, page.rows.back().seq};
  const Seqs rest = read_all(at);
  ASSERT_TRUE(ledger_->save(fence, {{at, {}}, 25, rest}));
  EXPECT_EQ(operator_->figures()->waiting_rows, 0);
}

// Triage

TEST_P(OutboxStoreContract, AQueryAnswersForEachRowAndFailsForOneAlone) {
  const auto session = store().open_triage();
  const Predicate predicate = bench_->query("it's \"a\", {\\b}", "bad");
  EXPECT_TRUE(session->check(predicate));
  std::vector<AskedRow> rows;
  for (int i = 0; i < 20; ++i) rows.push_back(asked(i + 1, "k"));
  rows[3].aggregate_id = rows[17].aggregate_id = "it's \"a\", {\\b}";
  rows[0].aggregate_id = rows[4].aggregate_id = rows[19].aggregate_id = "bad";
  rows[7].aggregate_id = std::nullopt;
  const auto found = session->matches(predicate, rows);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->matched, (std::vector<std::size_t>{3, 17}));
  ASSERT_EQ(found->failed.size(), 3U);
  EXPECT_EQ(found->failed[0].row, 0U);
  EXPECT_EQ(found->failed[1].row, 4U);
  EXPECT_EQ(found->failed[2].row, 19U);
  EXPECT_FALSE(found->failed[0].message.empty());
  EXPECT_TRUE(session->matches(predicate, {})->matched.empty());
}

TEST_P(OutboxStoreContract, NewerOfAKeyMeansTheSameAggregateAndTypeAndALargerSeq) {
  const std::int64_t a = bench_->insert({.aggregate_id = "a"});
  const std::int64_t b = bench_->insert({.aggregate_id = "b"});
  const std::int64_t other_type = bench_->insert({.aggregate_id = "a", .type = "closed"});
  const std::int64_t other_kind = bench_->insert({.aggregate_id = "b", .aggregate_type = "card"});
  EXPECT_EQ(newer({asked(a, "a"), asked(b, "b")}), std::vector<std::size_t>{});
  const std::int64_t a2 = bench_->insert({.aggregate_id = "a"});
  bench_->insert_and_roll_back({.aggregate_id = "b"});
  EXPECT_EQ(newer({asked(a, "a"), asked(b, "b"), asked(other_type, "a", "closed"),
                   asked(other_kind, "b", "opened", "card"), asked(a2, "a")}),
            std::vector<std::size_t>{0});
}

TEST_P(OutboxStoreContract, ANewerRowThatIsNotPublishedDoesNotCount) {
  const Fence fence = own();
  const std::int64_t a = bench_->insert({.aggregate_id = "a"});
  const std::int64_t a2 = bench_->insert({.aggregate_id = "a"});
  for (const auto verdict : {model::Verdict::kSetAside, model::Verdict::kReconcile, model::Verdict::kDiscard}) {
    EXPECT_EQ(newer({asked(a, "a")}), (std::vector<std::size_t>{0}));
    const std::int64_t latest = bench_->insert({.aggregate_id = "b"});
    const std::int64_t later = bench_->insert({.aggregate_id = "b"});
    record(fence, {settlement(later, verdict, "b")});
    EXPECT_EQ(newer({asked(latest, "b")}), std::vector<std::size_t>{}) << to_string(verdict);
    record(fence, {settlement(latest, model::Verdict::kDiscard, "b")});
  }
  record(fence, {settlement(a2, model::Verdict::kPublish)});
  EXPECT_EQ(newer({asked(a, "a")}), (std::vector<std::size_t>{0}));
}

}  // namespace spillway::ports
