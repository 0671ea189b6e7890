#include "sqlite/schema.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "sqlite/connection.h"

namespace spillway::sqlite {
namespace {

// Version 2. Written so that running it again changes nothing.
constexpr char kTables[] =
    R"sql(-- One row per event, written in the transaction that changes the business data. Spillway never updates it.
CREATE TABLE IF NOT EXISTS spillway_outbox (
  -- Order within a key. Leave it out: SQLite has one writer at a time, so it grows in commit order and is never reused.
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Event id: a UUID in its 36-character form.
  id TEXT NOT NULL COLLATE NOCASE UNIQUE DEFAULT (lower(
    hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' ||
    substr('89ab', 1 + (abs(random()) % 4), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))),
  aggregatetype TEXT NOT NULL,
  aggregateid TEXT NOT NULL,
  type TEXT NOT NULL,
  -- Text or blob, sent byte for byte. NULL is a tombstone; an empty text or blob is a value of no bytes.
  payload,
  -- The text of a JSON object, or NULL.
  headers TEXT,
  -- A number is milliseconds since 1970, a text is ISO 8601 (UTC unless it has an offset).
  created_at DEFAULT ()sql" SPILLWAY_SQLITE_NOW_MS R"sql(),
  CONSTRAINT id_is_a_uuid CHECK (length(id) = 36 AND id GLOB
    '????????-????-????-????-????????????' AND replace(id, '-', '') NOT GLOB '*[^0-9a-fA-F]*'
    AND length(replace(id, '-', '')) = 32),
  CONSTRAINT headers_are_a_json_object CHECK (headers IS NULL OR (json_valid(headers) AND json_type(headers) = 'object'))
);

-- Leads to the rows of a key.
CREATE INDEX IF NOT EXISTS spillway_outbox_by_key ON spillway_outbox (aggregateid, seq);

-- A row put in below rows that were sent already would never be looked at.
CREATE TRIGGER IF NOT EXISTS spillway_outbox_seq_grows AFTER INSERT ON spillway_outbox
WHEN new.seq <= (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'spillway_outbox')
BEGIN
  SELECT raise(ABORT, 'spillway_outbox.seq must be larger than every seq before it: leave it out of the INSERT');
END;

-- What became of events that were not simply published: the audit trail.
CREATE TABLE IF NOT EXISTS spillway_settled (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL COLLATE NOCASE,
  key TEXT,
  topic TEXT NOT NULL,
  type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('publish', 'reconcile', 'discard', 'set_aside', 'stopped', 'waiting')),
  state TEXT NOT NULL CHECK (state IN ('open', 'released', 'done')),
  rule TEXT NOT NULL,
  reason TEXT NOT NULL,
  who TEXT NOT NULL,
  since INTEGER NOT NULL -- milliseconds since 1970
);
CREATE INDEX IF NOT EXISTS spillway_settled_by_state ON spillway_settled (state, seq);
CREATE INDEX IF NOT EXISTS spillway_settled_by_age ON spillway_settled (state, since);
CREATE INDEX IF NOT EXISTS spillway_settled_by_id ON spillway_settled (id);
CREATE INDEX IF NOT EXISTS spillway_settled_by_key ON spillway_settled (key, seq) WHERE state = 'open';

-- Pauses, per lane ('all' or 'backlog').
CREATE TABLE IF NOT EXISTS spillway_control (
  lane TEXT PRIMARY KEY,
  paused INTEGER NOT NULL,
  reason TEXT NOT NULL,
  who TEXT NOT NULL,
  since INTEGER NOT NULL -- milliseconds since 1970
) WITHOUT ROWID;

-- A person's limit on the governor: one row at most. It is over when `until` has passed.
CREATE TABLE IF NOT EXISTS spillway_override (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  max_total REAL, -- events/s; NULL = nothing above what is sent when a relay first sees it
  reason TEXT NOT NULL,
  who TEXT NOT NULL,
  since INTEGER NOT NULL, -- milliseconds since 1970
  until INTEGER NOT NULL -- milliseconds since 1970
);

-- What people changed.
CREATE TABLE IF NOT EXISTS spillway_audit (
  entry INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL DEFAULT ()sql" SPILLWAY_SQLITE_NOW_MS R"sql(), -- milliseconds since 1970
  who TEXT NOT NULL,
  what TEXT NOT NULL,
  before TEXT, -- JSON
  after TEXT, -- JSON
  reason TEXT NOT NULL
);

-- Who relays an outbox. The epoch rises with every change of holder.
CREATE TABLE IF NOT EXISTS spillway_lease (
  name TEXT PRIMARY KEY,
  holder TEXT,
  holder_name TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  expires_at INTEGER NOT NULL -- milliseconds since 1970
) WITHOUT ROWID;

-- How far the relay is: lane 0 is live, 1 and up are intervals of backlog, oldest first.
CREATE TABLE IF NOT EXISTS spillway_progress (
  name TEXT NOT NULL,
  lane INTEGER NOT NULL,
  frame_from TEXT NOT NULL,
  frame_to TEXT NOT NULL,
  last_seq INTEGER,
  saved_at INTEGER NOT NULL, -- milliseconds since 1970
  read_up_to INTEGER NOT NULL DEFAULT 0, -- live: all that was visible then was read; microseconds since 1970
  began INTEGER NOT NULL DEFAULT 0, -- backlog: when it became that; microseconds since 1970
  judged INTEGER, -- backlog: rows up to this seq have their verdict
  capacity REAL NOT NULL DEFAULT 0, -- live: events/s that downstream was found to take
  PRIMARY KEY (name, lane)
) WITHOUT ROWID;

-- Up to where all was finished, once an hour: cleanup goes by it.
CREATE TABLE IF NOT EXISTS spillway_finished (
  name TEXT NOT NULL,
  at INTEGER NOT NULL, -- milliseconds since 1970
  seq INTEGER NOT NULL,
  PRIMARY KEY (name, at)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS spillway_counter (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;

-- What a consumer has done already, in the consumer's own transaction.
CREATE TABLE IF NOT EXISTS spillway_inbox (
  consumer TEXT NOT NULL,
  event_id TEXT NOT NULL COLLATE NOCASE,
  claimed_at INTEGER NOT NULL DEFAULT ()sql" SPILLWAY_SQLITE_NOW_MS R"sql(), -- milliseconds since 1970
  PRIMARY KEY (consumer, event_id)
) WITHOUT ROWID;

-- file_id tells this file from another that takes its place.
CREATE TABLE IF NOT EXISTS spillway_schema (
  version INTEGER NOT NULL,
  file_id TEXT NOT NULL
);
INSERT INTO spillway_schema (version, file_id)
SELECT 2, lower(hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM spillway_schema);
)sql";

// Constraints of a table cannot be changed in place; IF NOT EXISTS does the rest.
constexpr char kFromVersion1[] = R"sql(
ALTER TABLE spillway_settled RENAME TO spillway_settled_1;
DROP INDEX spillway_settled_by_state;
DROP INDEX spillway_settled_by_age;
DROP INDEX spillway_settled_by_id;
DROP INDEX spillway_settled_by_key;
ALTER TABLE spillway_progress ADD COLUMN read_up_to INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spillway_progress ADD COLUMN began INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spillway_progress ADD COLUMN judged INTEGER;
ALTER TABLE spillway_progress ADD COLUMN capacity REAL NOT NULL DEFAULT 0;
)sql";
constexpr char kAfterVersion1[] = R"sql(
INSERT INTO spillway_settled SELECT * FROM spillway_settled_1;
DROP TABLE spillway_settled_1;
UPDATE spillway_schema SET version = 2;
)sql";

std::string as_comment(const char* sql) {
  std::string text = "--   ";
  for (const char* at = sql; *at; ++at) {
    text += *at;
    if (*at == '\n') text += "--   ";
  }
  return text + "\n";
}

std::optional<std::int64_t> installed_version(Connection& connection) {
  auto table = connection.use("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'spillway_schema'");
  if (!table.step()) return std::nullopt;
  auto version = connection.use("SELECT version FROM spillway_schema");
  if (!version.step()) return std::nullopt;
  return version.integer(0);
}

Installed bring_up(Connection& connection) {
  auto mode = connection.use("PRAGMA journal_mode");
  const bool wal = mode.step() && mode.text(0) == "wal";
  mode.reset();
  // Readers and the one writer do not block each other in this mode; it stays with the file.
  if (!wal) connection.execute("PRAGMA journal_mode=WAL");
  Transaction transaction(connection, Transaction::Kind::kWrite);
  const auto before = installed_version(connection);
  if (before && *before > kSchemaVersion) {
    throw Failure(base::ErrorClass::kMisconfigured,
                  fmt::format("{} has schema version {}, made by a newer Spillway; this one knows up to {}: upgrade it",
                              connection.path(), *before, kSchemaVersion));
  }
  if (before == kSchemaVersion) return wal ? Installed::kUnchanged : Installed::kUpgraded;
  if (before == 1) connection.execute(kFromVersion1);
  connection.execute(kTables);
  if (before == 1) connection.execute(kAfterVersion1);
  transaction.commit();
  return before ? Installed::kUpgraded : Installed::kCreated;
}

}  // namespace

std::string init_sql() {
  return fmt::format(
      "-- Spillway's schema for SQLite, version {}. May be run again.\n"
      "PRAGMA journal_mode=WAL;\n"
      "BEGIN IMMEDIATE;\n{}COMMIT;\n\n"
      "-- Writing an event, in the transaction that changes the business data (returns its id):\n{}"
      "-- Claiming an event, in the transaction that does its work (a row: do it; no row: done before):\n{}",
      kSchemaVersion, kTables, as_comment(kEmit), as_comment(kInboxClaim));
}

base::Result<Installed> install(const std::string& path, std::chrono::milliseconds time_limit) {
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(path, ignored).parent_path();
  if (!std::filesystem::is_directory(folder, ignored)) {
    return base::fail(base::ErrorClass::kMisconfigured,
                      fmt::format("cannot create {}: the folder {} does not exist", path, folder.string()));
  }
  if (std::filesystem::is_directory(path, ignored)) {
    return base::fail(base::ErrorClass::kMisconfigured, fmt::format("{} is a folder: give the path of a file", path));
  }
  try {
    Connection connection(path, time_limit, OpenMode::kCreate);
    return bring_up(connection);
  } catch (const Failure& failure) {
    return base::fail(failure.error_class, failure.what());
  }
}

}  // namespace spillway::sqlite
