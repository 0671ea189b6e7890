#include "ports/contract/outbox_store_contract.h"
#include "sqlite/scratch_outbox.h"

namespace spillway::ports {
namespace {

class SqliteBench final : public OutboxBench {
 public:
  SqliteBench() {
    const auto installed = sqlite::install(path_);
    EXPECT_TRUE(installed) << installed.error().message;
  }

  OutboxStore& store() override { return store_; }

  std::int64_t insert(const NewRow& row) override {
    sqlite::Connection writer(path_, sqlite::kPatience);
    emit(writer, row);
    return std::stoll(sqlite::value_of(path_, "SELECT max(seq) FROM spillway_outbox"));
  }

  void insert_many(std::int64_t count, std::size_t payload_bytes) override {
    sqlite::Connection writer(path_, sqlite::kPatience);
    sqlite::Transaction transaction(writer, sqlite::Transaction::Kind::kWrite);
    for (std::int64_t i = 0; i < count; ++i) {
      NewRow row;
      row.aggregate_id = "k-" + std::to_string(i % 10);
      row.payload = std::string(payload_bytes, 'x');
      emit(writer, row);
    }
    transaction.commit();
  }

  void insert_and_roll_back(const NewRow& row) override {
    sqlite::Connection writer(path_, sqlite::kPatience);
    const sqlite::Transaction transaction(writer, sqlite::Transaction::Kind::kWrite);
    emit(writer, row);
  }

  std::int64_t rows_in_table() override {
    return std::stoll(sqlite::value_of(path_, "SELECT count(*) FROM spillway_outbox"));
  }

  Predicate query(const std::string& holds, const std::string& fails) override {
    sqlite::execute(path_, "CREATE TABLE sought (id TEXT PRIMARY KEY)");
    sqlite::Connection writer(path_, sqlite::kPatience);
    auto insert = writer.use("INSERT INTO sought VALUES (?)");
    insert.bind(holds).run();
    return {{{"SELECT 1 FROM sought WHERE json(iif(", RowField::kAggregateId},
             {" = '" + fails + "', '{', '1')) = '1' AND id = ", RowField::kAggregateId},
             {" -- to the end"}}};
  }

 private:
  static void emit(sqlite::Connection& writer, const NewRow& row) {
    auto statement = writer.use(sqlite::kEmit);
    statement.bind(row.aggregate_type).bind(row.aggregate_id).bind(row.type).bind(row.payload).bind(row.headers).step();
  }

  sqlite::ScratchFolder folder_;
  std::string path_ = folder_.file("app.db");
  sqlite::OutboxStore store_{{.path = path_}};
};

INSTANTIATE_TEST_SUITE_P(Sqlite, OutboxStoreContract, testing::Values([] { return std::make_unique<SqliteBench>(); }));

}  // namespace
}  // namespace spillway::ports
