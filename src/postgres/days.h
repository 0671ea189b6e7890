// The partitions by day of an outbox that `init --partitioned` made: kept ahead, and dropped when they are done with.
// They are named <table>_YYYYMMDD, in UTC. What has no partition goes into the DEFAULT one, so no insert fails.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "ports/outbox_store.h"
#include "postgres/connection.h"
#include "postgres/layout.h"

namespace spillway::postgres {

// What there is, and what this user may do with it.
struct Days {
  bool partitioned = false;
  bool installed = false;  // the two functions are there
  bool may_add = false;
  bool may_drop = false;
  std::string add_day;  // the functions, quoted
  std::string drop_day;
  // Quoted, where this user may clean it and every other partition is a day of ours: then nothing but its rows has to
  // be removed one by one. Empty otherwise.
  std::string default_partition;
};

base::Result<Days> look_at_days(Connection& connection, const TableLayout& layout);

// Today's partition and those of the seven days after it, each in a transaction of its own that holds up writers for at
// most 200 ms and those that write to the DEFAULT partition also while that is read. A day with rows in the DEFAULT
// partition is left out. kTransient: a lock was not to be had, try again; kMisconfigured: without the right to, with
// the remedy; kRejected: the DEFAULT partition is too large. Does nothing to a table that is not partitioned.
base::Status add_days(Connection& connection, const TableLayout& layout);

// The first day of which every row is finished, published for at least `keep` and not open in the ledger, dropped as a
// whole; empty where there is none. kTransient where the locks were not to be had within 200 ms.
base::Result<std::string> drop_day(Connection& connection, const Days& days, const std::string& outbox,
                                   const ports::Fence& fence, std::chrono::seconds keep);

}  // namespace spillway::postgres
