#include "bench/sqlite_outbox.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <stdexcept>

namespace spillway::bench {

void fill_sqlite(const std::string& path, const std::string& topic, std::int64_t rows, std::size_t bytes) {
  sqlite3* database = nullptr;
  const std::string sql = fmt::format(
      "INSERT INTO spillway_outbox (aggregatetype, aggregateid, type, payload) WITH RECURSIVE i(n) AS (SELECT 1 UNION "
      "ALL "
      "SELECT n + 1 FROM i WHERE n < {}) SELECT '{}', 'k' || (n % 10000), 'made', '{}' FROM i",
      rows, topic, std::string(bytes, 'x'));
  const bool done = sqlite3_open(path.c_str(), &database) == SQLITE_OK &&
                    sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  const std::string why = done ? "" : sqlite3_errmsg(database);
  sqlite3_close(database);
  if (!done) throw std::runtime_error(why);
}

}  // namespace spillway::bench
