// The one place that makes writes conditional on the lease and on the server's incarnation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/outbox_store.h"
#include "postgres/connection.h"

namespace spillway::postgres {

// An SQL expression: changes with every crash recovery and with a promotion, not with a clean restart; any role may
// read it. Without it a snapshot taken before a crash would hide rows whose transactions got the ids of lost ones.
inline constexpr char kIncarnationSql[] =
    "(select coalesce((extract(epoch from stats_reset) * 1000000)::bigint, 0)::text from pg_stat_bgwriter)";

// An SQL expression: true on a standby, and on a former primary that was set to read-only. Both go on answering
// queries, so a session that only reads must ask, or it stays there for ever after a failover.
inline constexpr char kReadOnlySql[] =
    "(pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean)";
inline constexpr char kNoWrites[] = "PostgreSQL takes no writes any more: waiting for the primary";

// What follows the common table expression `fence`, whose one row has the column `holds`. `writes` names further
// common table expressions, each of which changes rows only `where (select holds from fence)`; `answer` is a list of
// scalar expressions. $1 is the outbox name, $2 to $4 the fence, $5 and on are `values`.
struct FencedWrite {
  std::string writes;
  std::string answer = "0";
};

// One autocommitted statement: inside a longer transaction the share lock on the lease would block a take-over for as
// long as that lives. kLostLease, kLostPlace: nothing was changed. The answer's columns start at 0.
base::Result<Answer> write_fenced(Connection& connection, const std::string& outbox, const ports::Fence& fence,
                                  const FencedWrite& write, std::vector<Value> values = {});

}  // namespace spillway::postgres
