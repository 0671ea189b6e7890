// The schema in PostgreSQL: its SQL, its version, and how it gets there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "postgres/connection.h"
#include "postgres/layout.h"

namespace spillway::postgres {

inline constexpr std::int64_t kSchemaVersion = 2;

// The channel on which `notify` announces new rows.
inline constexpr char kArrivalChannel[] = "spillway_outbox";

enum class Payload : std::uint8_t { kText, kBytea, kJson, kJsonb };

const char* to_string(Payload payload);
std::optional<Payload> payload_of(std::string_view name);

struct InitOptions {
  std::optional<Payload> payload;  // empty: text in a new table, whatever it is in one that exists
  bool notify = false;             // a trigger that announces inserts; makes PREPARE TRANSACTION fail in writers
  bool roles = false;              // spillway_writer, spillway_relay, spillway_console; needs CREATEROLE
  bool partitioned = false;        // by day (UTC) of created_at; `id` is then unique within a day only
  // An adopted table is left as it is: only the side tables come, and `payload`, `notify` and `partitioned` are
  // refused.
  TableLayout layout{};
};

// The whole schema as one transaction for psql. It may be run again.
std::string init_sql(const InitOptions& options);

struct Installed {
  enum class Change : std::uint8_t { kCreated, kUpgraded, kUnchanged };  // of the side tables where layout.adopted
  Change change = Change::kUnchanged;
  Payload payload = Payload::kText;
  bool partitioned = false;
  std::string days_missing;  // why partitions that should be ahead are not; the relay tries again
};

// Brings the schema to kSchemaVersion in one transaction; safe while writers and a relay are at work. kMisconfigured:
// made by a newer Spillway, another payload type or partitions asked for than the table has, not the right to create.
base::Result<Installed> install(Connection& connection, const InitOptions& options);

}  // namespace spillway::postgres
