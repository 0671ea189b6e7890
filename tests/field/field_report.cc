#include "field/field_report.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace spillway::testing {
namespace {

class ServicesEnd : public ::testing::Environment {
 public:
  void TearDown() override { FieldReport::stop_services(); }
};

[[maybe_unused]] const ::testing::Environment* const kServicesEnd =
    ::testing::AddGlobalTestEnvironment(new ServicesEnd);

}  // namespace

OpenTransaction::OpenTransaction(const std::string& uri, const std::string& begin)
    : connection_(PQconnectdb(uri.c_str())) {
  run(begin);
}

void OpenTransaction::Finish::operator()(pg_conn* connection) const { PQfinish(connection); }

void OpenTransaction::run(const std::string& sql) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection_.get(), sql.c_str()), PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(sql + ": " + PQerrorMessage(connection_.get()));
  }
}

void FieldReport::SetUpTestSuite() {
  if (services_) return;
  services_ = std::make_unique<Services>();
  services_->server = std::make_unique<PostgresServer>(
      PostgresOptions{.max_prepared_transactions = 10, .settings = {{"max_connections", "150"}}});
  services_->broker = std::make_unique<KafkaBroker>(
      KafkaOptions{.auto_create_topics = false, .advertised_by_proxy = services_->network.port(), .properties = {}});
  services_->network.set_target(services_->broker->proxied_port());
}

void FieldReport::SetUp() {
  name_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  name_ = name_.substr(0, name_.find('_'));
  std::ranges::transform(name_, name_.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  static int count = 0;
  database_ = name_ + "_" + std::to_string(++count);
  server().execute("create database " + database_);
}

void FieldReport::TearDown() {
  server().thaw();
  broker().thaw();
  network().set_delay(0ms);
  network().set_blackhole(false);
  network().set_refusing(false);
}

RelaySettings FieldReport::proxied() const {
  return {.store = uri(), .bootstrap = "127.0.0.1:" + std::to_string(network().port())};
}

std::string FieldReport::events(const std::string& topic, const std::string& key, std::int64_t first,
                                std::int64_t last) {
  return fmt::format(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) "
      "select '{0}', '{1}', 'made', '{1} ' || n from generate_series({2}, {3}) n",
      topic, key, first, last);
}

void FieldReport::insert_many(const std::string& topic, int keys, int each) const {
  sql(
      fmt::format("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) "
                  "select '{}', 'k' || k, 'made', 'k' || k || ' ' || n "
                  "from generate_series(1, {}) n, generate_series(1, {}) k order by n, k",
                  topic, each, keys));
}

bool FieldReport::published(std::int64_t count, std::chrono::milliseconds limit) const {
  return eventually(
      [&] { return std::stoll(value("select coalesce(max(published), 0) from spillway.progress")) >= count; }, limit,
      50ms);
}

bool FieldReport::all_done(std::chrono::milliseconds limit) const {
  // Done is what the place has passed: inside a frame the rows up to `live_last` and those that were visible before it.
  // So is what the ledger names, but for what waits behind its key and what is released from there.
  return eventually(
      [&] {
        return value(
                   "select count(*) from spillway.outbox o left join spillway.settled s on s.id = o.id "
                   "where s.state = 'released' or (s.state = 'open' and s.verdict = 'waiting') or (s.id is null "
                   "and not exists (select from spillway.progress p where p.live_from <> '' and p.backlog = '[]' "
                   "and (pg_visible_in_snapshot(o.tx, p.live_from::pg_snapshot) or (p.live_to <> '' "
                   "and pg_visible_in_snapshot(o.tx, p.live_to::pg_snapshot) and o.seq <= p.live_last))))") == "0";
      },
      limit, 50ms);
}

Delivery FieldReport::expect_complete(const std::string& topic) const {
  const Delivery found = check_delivery(server(), broker().bootstrap(), topic, database_);
  EXPECT_EQ(found.lost, 0) << topic;
  EXPECT_EQ(found.foreign, 0) << topic;
  EXPECT_EQ(found.inversions, 0) << topic;
  return found;
}

bool FieldReport::owned_by(const RelayProcess& relay, std::chrono::milliseconds limit) const {
  return eventually(
      [&] {
        return value(fmt::format("select count(*) from spillway.lease where holder is not null and holder_name like "
                                 "'%/{}'",
                                 relay.pid())) == "1";
      },
      limit, 20ms);
}

}  // namespace spillway::testing
