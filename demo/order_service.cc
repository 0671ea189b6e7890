#include "demo/order_service.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <stdexcept>

namespace spillway::demo {

OrderService::OrderService(const std::string& path) {
  if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database_));
  sqlite3_busy_timeout(database_, 5'000);
  run("PRAGMA journal_mode = WAL");
  run("PRAGMA synchronous = NORMAL");
  run("CREATE TABLE orders (customer INTEGER PRIMARY KEY, version INTEGER NOT NULL)");
}

OrderService::~OrderService() { sqlite3_close(database_); }

void OrderService::run(const char* sql) {
  char* message = nullptr;
  if (sqlite3_exec(database_, sql, nullptr, nullptr, &message) == SQLITE_OK) return;
  const std::string why = message != nullptr ? message : "unknown";
  sqlite3_free(message);
  throw std::runtime_error(why);
}

void OrderService::change_order(int customer) {
  run("BEGIN IMMEDIATE");
  run(fmt::format("INSERT INTO orders VALUES ({0}, 1) ON CONFLICT DO UPDATE SET version = version + 1", customer)
          .c_str());
  // The version is this customer's own counter: the consumer tells from it whether order was kept.
  run(fmt::format("INSERT INTO spillway_outbox (aggregatetype, aggregateid, type, payload) "
                  "SELECT 'order', 'customer-{0}', 'order.changed', json_object('customer', {0}, 'version', version) "
                  "FROM orders WHERE customer = {0}",
                  customer)
          .c_str());
  if (++tried_ % 10 == 0) {
    run("ROLLBACK");
    return;
  }
  run("COMMIT");
  ++committed_;
}

}  // namespace spillway::demo
