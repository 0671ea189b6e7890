// Rows for the drain from SQLite.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::bench {

// Adds `rows` rows to the outbox in the file, as fast as SQLite takes them.
void fill_sqlite(const std::string& path, const std::string& topic, std::int64_t rows, std::size_t bytes);

}  // namespace spillway::bench
