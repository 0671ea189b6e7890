// After the outbox was restored into another cluster, where the transaction ids in its rows and in the saved progress
// mean nothing.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "postgres/connection.h"
#include "postgres/layout.h"

namespace spillway::postgres {

struct Repaired {
  std::int64_t finished = 0;    // by the restored progress
  std::int64_t unfinished = 0;  // will be published, in order of seq
};

// In one transaction with writers locked out: unfinished rows get this transaction's id and finished ones an id before
// all others, progress begins between the two, and the lease becomes free. Rows that were published after the dump was
// made are published again. Takes as long as rewriting the table does. Also right after pg_upgrade. kMisconfigured
// where the progress is from this very cluster.
base::Result<Repaired> repair_restored(ConnectOptions connect, const std::string& outbox, const TableLayout& layout);

}  // namespace spillway::postgres
