// Totals since the schema was made, kept in spillway_counter.
#pragma once

#include <cstdint>

#include "sqlite/connection.h"

namespace spillway::sqlite {

inline constexpr char kPublishedCounter[] = "published";
inline constexpr char kDiscardedCounter[] = "discarded";
inline constexpr char kReconciledCounter[] = "reconciled";

// Inside a transaction of the caller.
void add_to_counter(Connection& connection, const char* counter, std::int64_t amount);
std::int64_t counter_value(Connection& connection, const char* counter);

}  // namespace spillway::sqlite
