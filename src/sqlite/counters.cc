#include "sqlite/counters.h"

namespace spillway::sqlite {

void add_to_counter(Connection& connection, const char* counter, std::int64_t amount) {
  if (amount == 0) return;
  auto add = connection.use(
      "INSERT INTO spillway_counter (name, value) VALUES (?, ?)"
      " ON CONFLICT (name) DO UPDATE SET value = value + excluded.value");
  add.bind(counter).bind(amount).run();
}

std::int64_t counter_value(Connection& connection, const char* counter) {
  auto read = connection.use("SELECT value FROM spillway_counter WHERE name = ?");
  return read.bind(counter).step() ? read.integer(0) : 0;
}

}  // namespace spillway::sqlite
