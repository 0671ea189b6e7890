// Tables that somebody else made: in compatibility mode, by snapshots where they have a column for it, and refused
// ones.
#include "postgres/adopted.h"

namespace spillway::testing {
namespace {

using base::ErrorClass;
using Seqs = std::vector<std::int64_t>;

// Reads, acknowledges and marks as the relay does.
class Marker {
 public:
  explicit Marker(const Adopted& adopted) : store_(adopted.outbox.store()) {
    const base::Uuid holder = base::random_uuid();
    const auto taken = store_->open_lease()->acquire(holder, "test", std::chrono::seconds(30));
    const auto loaded = ledger_->load();
    if (!taken || !loaded) throw std::runtime_error("no lease or no progress");
    fence_ = {holder, taken->lease.epoch, loaded->incarnation};
    at_ = loaded->progress.live;
  }

  Seqs read(ports::ReadLimits limits = {}) {
    Seqs seqs;
    for (bool more = true; more;) {
      const auto page = reader_->read(at_, fence_.incarnation, limits);
      if (!page) throw std::runtime_error(page.error().message);
      for (const model::Row& row : page->rows) seqs.push_back(row.seq);
      at_ = page->next;
      more = page->more || !page->rows.empty();
    }
    return seqs;
  }
  base::Status mark(const Seqs& seqs) {
    return ledger_->save(fence_, {{at_, {}}, static_cast<std::int64_t>(seqs.size()), seqs});
  }
  ports::OutboxLedger& ledger() { return *ledger_; }
  ports::Fence& fence() { return fence_; }
  postgres::OutboxStore& store() { return *store_; }

 private:
  std::unique_ptr<postgres::OutboxStore> store_;
  std::unique_ptr<ports::OutboxReader> reader_ = store_->open_reader();
  std::unique_ptr<ports::OutboxLedger> ledger_ = store_->open_ledger();
  ports::Fence fence_;
  model::Position at_;
};

TEST(Adopted, ALateCommitWithASmallerIdIsReadOnce) {
  Adopted adopted;
  Marker relay(adopted);
  Session slow(adopted.outbox.uri());
  slow.run("begin");
  const std::int64_t late = std::stoll(slow.run(insert_sql("late")));
  const std::int64_t b = adopted.outbox.number(insert_sql());
  EXPECT_EQ(relay.read(), Seqs{b});
  ASSERT_TRUE(relay.mark({b}));
  EXPECT_EQ(relay.read(), Seqs{});
  slow.run("commit");
  EXPECT_EQ(relay.read(), Seqs{late});
  EXPECT_EQ(relay.read(), Seqs{});
  ASSERT_TRUE(relay.mark({late}));
  EXPECT_EQ(adopted.outbox.number("select count(*) from public.events"), 0);
}

TEST(Adopted, NothingIsReadPastALateRowThatCommittedBefore) {
  Adopted adopted;
  Marker relay(adopted);
  Session slow(adopted.outbox.uri());
  slow.run("begin");
  const std::int64_t first = std::stoll(slow.run(insert_sql("k")));
  adopted.outbox.number(insert_sql("other"));
  relay.read();
  slow.run("commit");
  const std::int64_t second = adopted.outbox.number(insert_sql("k"));  // after the lock of k became free
  EXPECT_EQ(relay.read({1, 1 << 20}), (Seqs{first, second}));
}

TEST(Adopted, ManyLateRowsComeInOrderWhateverThePage) {
  for (const std::size_t rows : {1U, 3U, 1000U}) {
    Adopted adopted;
    Marker relay(adopted);
    Session slow(adopted.outbox.uri());
    slow.run("begin");
    Seqs late;
    for (int i = 0; i < 10; ++i) {
      late.push_back(std::stoll(slow.run(insert_sql())));
      adopted.outbox.number(insert_sql());
    }
    EXPECT_EQ(relay.read().size(), 10U);
    slow.run("commit");
    EXPECT_EQ(relay.read({rows, 1 << 20}), late) << rows;
  }
}

TEST(Adopted, ARestartReadsAgainWhatWasNotMarked) {
  Adopted adopted(with_status(), kStatusColumn);
  const std::int64_t a = adopted.outbox.number(insert_sql());
  const std::int64_t b = adopted.outbox.number(insert_sql());
  const std::int64_t c = adopted.outbox.number(insert_sql());
  {
    Marker relay(adopted);
    EXPECT_EQ(relay.read(), (Seqs{a, b, c}));
    ASSERT_TRUE(relay.mark({b}));
    ASSERT_TRUE(relay.store().open_lease()->release({relay.fence().holder, relay.fence().epoch}));
  }
  Marker next(adopted);
  EXPECT_EQ(next.read(), (Seqs{a, c}));
  EXPECT_EQ(adopted.outbox.value("select state from public.events where n = " + std::to_string(b)), "SENT");
  EXPECT_EQ(adopted.outbox.number("select count(*) from public.events"), 3);
}

TEST(Adopted, AForeignLeaseMarksNothing) {
  Adopted adopted;
  const std::int64_t a = adopted.outbox.number(insert_sql());
  Marker relay(adopted);
  relay.fence().epoch += 1;
  const auto status = relay.mark({a});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().error_class, ErrorClass::kLostLease);
  EXPECT_EQ(adopted.outbox.number("select count(*) from public.events"), 1);
}

TEST(Adopted, ARowThatWaitsForAPersonStaysUntilItIsResolved) {
  Adopted adopted;
  const std::int64_t a = adopted.outbox.number(insert_sql());
  const std::int64_t b = adopted.outbox.number(insert_sql());
  Marker relay(adopted);
  EXPECT_EQ(relay.read(), (Seqs{a, b}));
  std::vector<model::Settlement> settlements(2);
  for (std::size_t i = 0; i < 2; ++i) {
    settlements[i].seq = i == 0 ? a : b;
    settlements[i].id = base::random_uuid();
    settlements[i].verdict = model::Verdict::kSetAside;
  }
  ASSERT_TRUE(relay.ledger().record(relay.fence(), settlements));
  ASSERT_TRUE(relay.mark({a, b}));  // finished for the relay's window
  EXPECT_EQ(adopted.outbox.number("select count(*) from public.events"), 2);
  EXPECT_EQ(relay.read(), Seqs{});
  const auto people = relay.store().open_operator();
  ASSERT_EQ(people->settled_row(settlements[0].id)->rows.size(), 1U);
  ASSERT_TRUE(people->resolve({.ids = {settlements[0].id}}, model::Verdict::kPublish, "r", "ann"));
  ASSERT_TRUE(people->resolve({.ids = {settlements[1].id}}, model::Verdict::kDiscard, "r", "ann"));
  ASSERT_TRUE(relay.ledger().finish(relay.fence(), Seqs{a}));
  EXPECT_EQ(adopted.outbox.number("select n from public.events"), b);
  EXPECT_EQ(*relay.ledger().clean_up(relay.fence(), std::chrono::seconds(0), 100), 1);
  EXPECT_EQ(adopted.outbox.number("select count(*) from public.events"), 0);
}

TEST(Adopted, ATableWithAColumnForSnapshotsIsReadByThem) {
  postgres::TableLayout layout = debezium();
  layout.tx = "xid";
  Adopted adopted(layout,
                  "alter table public.events add xid xid8 not null default pg_current_xact_id(); "
                  "create index on public.events (xid, n)");
  ASSERT_TRUE(adopted.outbox.store()->inspect());
  EXPECT_FALSE(adopted.outbox.store()->marks_rows());
  Follower relay(adopted.outbox);
  Session slow(adopted.outbox.uri());
  slow.run("begin");
  const std::int64_t late = std::stoll(slow.run(insert_sql("late")));
  const std::int64_t b = adopted.outbox.number(insert_sql());
  EXPECT_EQ(relay.read(), Seqs{b});
  slow.run("commit");
  EXPECT_EQ(relay.read(), Seqs{late});
}

// The tables of goharvest and of tomorrow-one, each with what is unusual in it.
TEST(Adopted, IdsThatAreNumbersAndHeadersInTwoArraysAreUnderstood) {
  postgres::TableLayout layout;
  layout.schema = "public";
  layout.table = "outbox";
  layout.seq = layout.id = "id";
  layout.aggregate_type = "kafka_topic";
  layout.aggregate_id = "kafka_key";
  layout.payload = "kafka_value";
  layout.headers = "kafka_header_keys";
  layout.header_values = "kafka_header_values";
  layout.created_at = "create_time";
  layout.type = layout.tx = "";
  layout.adopted = true;
  Adopted adopted(layout, "",
                  "create table public.outbox (id bigserial primary key, create_time timestamptz not null, kafka_topic "
                  "varchar(249) not null, kafka_key varchar(100), kafka_value varchar(10000), kafka_header_keys text[] "
                  "not null, kafka_header_values text[] not null, leader_id uuid)");
  ASSERT_TRUE(adopted.outbox.store()->inspect());
  adopted.outbox.sql(
      "insert into public.outbox (create_time, kafka_topic, kafka_value, kafka_header_keys, "
      "kafka_header_values) values (now(), 't', 'v', '{h}', '{x}'), (now(), 't', 'v', '{}', '{}')");
  const auto page =
      adopted.outbox.store()->open_reader()->read({}, adopted.outbox.store()->open_ledger()->load()->incarnation, {});
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->rows.size(), 2U);
  EXPECT_EQ(page->rows[0].aggregate_type, "t");
  EXPECT_FALSE(page->rows[0].aggregate_id);
  EXPECT_EQ(page->rows[0].headers, R"({"h": "x"})");
  EXPECT_EQ(page->rows[1].headers, "{}");
  EXPECT_NE(page->rows[0].id, page->rows[1].id);
}

TEST(Adopted, AStatusThatIsATimeIsSetToTheTime) {
  postgres::TableLayout layout = debezium();
  layout.status = "processed";
  Adopted adopted(layout,
                  "alter table public.events add processed timestamptz; "
                  "create index on public.events (n) where processed is null");
  ASSERT_TRUE(adopted.outbox.store()->inspect()) << adopted.refusal();
  const std::int64_t a = adopted.outbox.number(insert_sql());
  Marker relay(adopted);
  EXPECT_EQ(relay.read(), Seqs{a});
  ASSERT_TRUE(relay.mark({a}));
  EXPECT_EQ(adopted.outbox.value("select processed > now() - interval '1 minute' from public.events"), "t");
}

#define EXPECT_SAYS(message, words) EXPECT_NE((message).find(words), std::string::npos) << (message)

TEST(Adopted, AKeyWithoutOrderIsRefused) {
  postgres::TableLayout layout = debezium();
  layout.seq = "id";
  EXPECT_SAYS(Adopted(layout).refusal(), "outbox.columns.order");
  layout.seq = "m";
  EXPECT_SAYS(Adopted(layout, "alter table public.events add m bigint").refusal(), "not unique");
}

TEST(Adopted, AStatusThatSaysTooLittleIsRefused) {
  postgres::TableLayout layout = with_status();
  layout.status_pending = {};
  EXPECT_SAYS(Adopted(layout, kStatusColumn).refusal(), "outbox.columns.status_pending");
  EXPECT_SAYS(Adopted(with_status(), "alter table public.events add state text not null default 'NEW'").refusal(),
              "create index concurrently on \"public\".\"events\" (\"n\") where \"state\" = 'NEW'");
}

TEST(Adopted, AMissingColumnIsRefused) {
  postgres::TableLayout layout = debezium();
  layout.payload = "body";
  EXPECT_SAYS(Adopted(layout).refusal(), "has no column body: name the column in outbox.columns");
}

TEST(Adopted, ASnapshotColumnThatWritersMayFillIsRefused) {
  postgres::TableLayout layout = debezium();
  layout.tx = "xid";
  EXPECT_SAYS(Adopted(layout, "alter table public.events add xid xid8").refusal(), "pg_current_xact_id()");
}

TEST(Adopted, InitLeavesTheTableAloneAndMakesNone) {
  Adopted adopted;
  EXPECT_EQ(adopted.outbox.value("select to_regclass('spillway.outbox') is null"), "t");
  EXPECT_EQ(adopted.outbox.value("select to_regproc('spillway.emit') is null"), "t");
  EXPECT_EQ(adopted.outbox.install(Adopted::options_for(debezium())).change, postgres::Installed::Change::kUnchanged);
  postgres::TableLayout elsewhere = debezium();
  elsewhere.table = "nowhere";
  postgres::Connection connection({adopted.outbox.uri()});
  const auto missing = postgres::install(connection, Adopted::options_for(elsewhere));
  ASSERT_FALSE(missing);
  EXPECT_SAYS(missing.error().message, "correct outbox.table");
  auto notify = Adopted::options_for(debezium());
  notify.notify = true;
  EXPECT_FALSE(postgres::install(connection, notify));
}

}  // namespace
}  // namespace spillway::testing
