// How much waits behind the saved progress, at a cost that does not grow with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ports/outbox_store.h"
#include "postgres/connection.h"
#include "postgres/layout.h"

namespace spillway::postgres {

struct Waiting {
  std::int64_t rows = 0;
  bool estimated = false;
  std::optional<double> oldest_age_s;
  std::int64_t bytes = 0;
};

// Up to 10,000 rows of each interval are counted; beyond that its length comes from the seqs at its two ends, which
// rolled-back rows make too large.
base::Result<Waiting> count_waiting(Connection& connection, const TableLayout& layout, const ports::Progress& progress);

// The same for a table whose rows are marked as they are acknowledged; what is in flight counts.
base::Result<Waiting> count_pending(Connection& connection, const std::string& outbox, const TableLayout& layout);

// A condition on a row of alias `o`: it waits behind this progress.
std::string waiting_sql(const TableLayout& layout, const ports::Progress& progress);

}  // namespace spillway::postgres
