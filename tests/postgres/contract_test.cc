#include "ports/contract/outbox_store_contract.h"
#include "postgres/adopted.h"
#include "postgres/outbox.h"

namespace spillway::ports {
namespace {

using testing::Outbox;
using testing::Session;

std::string sql_text(const std::optional<std::string>& text) { return text ? postgres::literal(*text) : "null"; }

Predicate query_in(const Outbox& outbox, const std::string& holds, const std::string& fails) {
  outbox.sql("create table public.sought (id text primary key); insert into public.sought values (" +
             postgres::literal(holds) + ")");
  return {{{"select from public.sought where 1 / case when ", RowField::kAggregateId},
           {" = " + postgres::literal(fails) + " then 0 else 1 end = 1 and id = ", RowField::kAggregateId},
           {" -- to the end"}}};
}

class PostgresBench final : public OutboxBench {
 public:
  OutboxStore& store() override { return *store_; }

  std::int64_t insert(const NewRow& row) override { return std::stoll(outbox_.value(sql(row))); }

  void insert_many(std::int64_t count, std::size_t payload_bytes) override {
    outbox_.sql(
        "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) select 'account', "
        "'k-' || n % 10, 'opened', repeat('x', " +
        std::to_string(payload_bytes) + ") from generate_series(1, " + std::to_string(count) + ") n");
  }

  void insert_and_roll_back(const NewRow& row) override {
    Session session(outbox_.uri());
    session.run("begin");
    session.run(sql(row));
    session.run("rollback");
  }

  std::int64_t rows_in_table() override { return outbox_.number("select count(*) from spillway.outbox"); }
  Predicate query(const std::string& holds, const std::string& fails) override {
    return query_in(outbox_, holds, fails);
  }

 private:
  static std::string sql(const NewRow& row) {
    return "insert into spillway.outbox (aggregatetype, aggregateid, type, payload, headers) values (" +
           sql_text(row.aggregate_type) + ", " + sql_text(row.aggregate_id) + ", " + sql_text(row.type) + ", " +
           sql_text(row.payload) + ", " + sql_text(row.headers) + ") returning seq";
  }

  Outbox outbox_;
  std::unique_ptr<postgres::OutboxStore> store_ = outbox_.store();
};

class AdoptedBench final : public OutboxBench {
 public:
  explicit AdoptedBench(const postgres::TableLayout& layout, const std::string& more = "") : adopted_(layout, more) {}

  OutboxStore& store() override { return *store_; }
  std::int64_t insert(const NewRow& row) override { return std::stoll(adopted_.outbox.value(sql(row))); }
  void insert_many(std::int64_t count, std::size_t payload_bytes) override {
    adopted_.outbox.sql(
        "insert into public.events (aggregatetype, aggregateid, type, payload) select 'account', 'k-' "
        "|| n % 10, 'opened', repeat('x', " +
        std::to_string(payload_bytes) + ") from generate_series(1, " + std::to_string(count) + ") n");
  }
  void insert_and_roll_back(const NewRow& row) override {
    Session session(adopted_.outbox.uri());
    session.run("begin");
    session.run(sql(row));
    session.run("rollback");
  }
  std::int64_t rows_in_table() override { return adopted_.outbox.number("select count(*) from public.events"); }
  Predicate query(const std::string& holds, const std::string& fails) override {
    return query_in(adopted_.outbox, holds, fails);
  }

 private:
  static std::string sql(const NewRow& row) {
    return "insert into public.events (aggregatetype, aggregateid, type, payload, headers) values (" +
           sql_text(row.aggregate_type) + ", " + sql_text(row.aggregate_id) + ", " + sql_text(row.type) + ", " +
           sql_text(row.payload) + ", " + sql_text(row.headers) + ") returning n";
  }

  testing::Adopted adopted_;
  std::unique_ptr<postgres::OutboxStore> store_ = adopted_.outbox.store();
};

INSTANTIATE_TEST_SUITE_P(Postgres, OutboxStoreContract,
                         ::testing::Values([] { return std::make_unique<PostgresBench>(); }));
INSTANTIATE_TEST_SUITE_P(AdoptedByDeleting, OutboxStoreContract,
                         ::testing::Values([] { return std::make_unique<AdoptedBench>(testing::debezium()); }));
INSTANTIATE_TEST_SUITE_P(AdoptedByStatus, OutboxStoreContract, ::testing::Values([] {
                           return std::make_unique<AdoptedBench>(testing::with_status(), testing::kStatusColumn);
                         }));

}  // namespace
}  // namespace spillway::ports
