// Whether a relay can work on the outbox: everything that would otherwise fail, or go wrong silently, later.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "postgres/connection.h"
#include "postgres/layout.h"

namespace spillway::postgres {

// Warnings, or kMisconfigured with the remedy.
base::Result<std::vector<std::string>> inspect_outbox(Connection& connection, const std::string& outbox,
                                                      const TableLayout& layout);

// Whether an index leads to the rows of a key: its first column is aggregate_id, a text.
base::Result<bool> has_key_index(Connection& connection, const TableLayout& layout);

}  // namespace spillway::postgres
