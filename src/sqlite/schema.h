// The schema in an SQLite file: its SQL, its version, and how it gets there.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace spillway::sqlite {

inline constexpr std::int64_t kSchemaVersion = 2;

// Milliseconds since 1970 by the store's own clock: the only expression for it, in the schema and in every statement.
#define SPILLWAY_SQLITE_NOW_MS "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"

// What PostgreSQL has as functions are statements here, for writers and consumers to copy.
// Writes one event in the writer's own transaction and returns its id. :payload may be text, blob or NULL (tombstone),
// :headers is the text of a JSON object or NULL.
inline constexpr char kEmit[] =
    "INSERT INTO spillway_outbox (aggregatetype, aggregateid, type, payload, headers)\n"
    "VALUES (:aggregatetype, :aggregateid, :type, :payload, :headers)\n"
    "RETURNING id;";
// In the same transaction as the work: one row means do it, no row means that it was done before.
inline constexpr char kInboxClaim[] =
    "INSERT INTO spillway_inbox (consumer, event_id) VALUES (:consumer, :event_id)\n"
    "ON CONFLICT DO NOTHING\n"
    "RETURNING 1;";

// The whole schema as a script for the sqlite3 shell, with the two statements above as comments. It may be run again.
std::string init_sql();

enum class Installed : std::uint8_t { kCreated, kUpgraded, kUnchanged };

// Creates the file where it is missing, and brings the schema to kSchemaVersion in one transaction. Safe to run while
// writers and a relay are at work. kMisconfigured: not a database, not writable, or made by a newer Spillway.
// Waits at most `time_limit` for the write lock (kTransient).
base::Result<Installed> install(const std::string& path,
                                std::chrono::milliseconds time_limit = std::chrono::seconds(5));

}  // namespace spillway::sqlite
