// How much waits behind the saved progress.
#pragma once

#include <cstdint>
#include <optional>

#include "ports/outbox_store.h"
#include "sqlite/connection.h"

namespace spillway::sqlite {

struct Waiting {
  std::int64_t rows = 0;
  bool estimated = false;  // beyond 10,000 rows: by seq alone, gaps and settled rows count
  std::int64_t bytes = 0;  // rows times the mean size of the first 100
  std::optional<double> oldest_age_s;
};

// Looks at 10,000 rows at most, however many wait. Inside a transaction of the caller.
Waiting waiting_behind(Connection& connection, const ports::Progress& progress);

// Whether a row with this number waits behind the progress.
bool waits_behind(const ports::Progress& progress, std::int64_t seq);

}  // namespace spillway::sqlite
