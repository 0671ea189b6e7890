#include "relay/writers.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <memory>
#include <random>
#include <set>
#include <stdexcept>

namespace spillway::testing {
namespace {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

Connection connect(const std::string& uri) { return {PQconnectdb(uri.c_str()), PQfinish}; }

bool run(PGconn* connection, const std::string& sql) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection, sql.c_str()), PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

}  // namespace

Writers::Writers(WriterOptions options) : options_(std::move(options)) {
  const Connection connection = connect(options_.uri);
  if (!run(connection.get(), "create table if not exists account (key text primary key, n bigint not null)")) {
    throw std::runtime_error(PQerrorMessage(connection.get()));
  }
  for (int i = 0; i < options_.writers; ++i) threads_.emplace_back([this, i] { work(i); });
}

Writers::~Writers() {
  stop_ = true;
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Writers::finish() {
  finishing_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Writers::work(int number) {
  std::mt19937_64 random(options_.seed * 1'000 + static_cast<std::uint64_t>(number));
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
  Connection connection = connect(options_.uri);
  while (!stop_ && !(finishing_ && committed_ >= options_.events)) {
    if (PQstatus(connection.get()) != CONNECTION_OK) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a service's own reconnect pause
      connection = connect(options_.uri);
      continue;
    }
    std::set<int> keys;  // in order, so that writers never wait for each other in a circle
    for (int i = 0, n = 1 + upto(8); i < n; ++i) keys.insert(upto(options_.keys));
    std::string sql = "begin;";
    for (int key : keys) {
      sql += fmt::format(
          "with a as (insert into account values ('k{0}', 1) on conflict (key) do update set n = account.n + 1 "
          "returning n)"
          " insert into spillway.outbox (aggregatetype, aggregateid, type, payload)"
          " select 'torture', 'k{0}', 'made', 'k{0} ' || n from a;",
          key);
    }
    if (!run(connection.get(), sql)) {
      run(connection.get(), "rollback");
      continue;
    }
    if (upto(100) < options_.slow_percent) run(connection.get(), fmt::format("select pg_sleep(0.{:03})", upto(400)));
    const bool back = upto(100) < options_.rollback_percent;
    if (run(connection.get(), back ? "rollback" : "commit") && !back) {
      committed_ += static_cast<std::int64_t>(keys.size());
    }
    if (options_.longest_pause_ms > 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(upto(options_.longest_pause_ms)));
  }
}

}  // namespace spillway::testing
