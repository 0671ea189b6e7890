#include "sqlite/inspect.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "sqlite/connection.h"
#include "sqlite/schema.h"

namespace spillway::sqlite {
namespace {

using base::ErrorClass;

[[noreturn]] void refuse(const std::string& message) { throw Failure(ErrorClass::kMisconfigured, message); }

// By the identity that opens files, which need not be the one that started the process.
bool accessible(const std::string& path, int how) { return faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) == 0; }

void check_path(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    refuse(fmt::format("{} is a folder: give the path of a file", path));
  if (!std::filesystem::exists(path, ignored)) refuse(fmt::format("{} does not exist: run `spillway init`", path));
  if (!accessible(path, R_OK | W_OK)) {
    refuse(fmt::format("{} cannot be read and written ({}): give this user access to it", path, std::strerror(errno)));
  }
  // SQLite keeps its log and its index of it beside the file.
  const auto folder = std::filesystem::absolute(path, ignored).parent_path().string();
  if (!accessible(folder, W_OK | X_OK)) {
    refuse(fmt::format("the folder {} cannot be written ({}): SQLite keeps its log there; give this user access to it",
                       folder, std::strerror(errno)));
  }
}

bool has_table(Connection& connection, std::string_view table) {
  auto found = connection.use("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  return found.bind(table).step();
}

void check_schema(Connection& connection) {
  if (!has_table(connection, "spillway_schema")) {
    refuse(fmt::format("{} has no outbox yet: run `spillway init`", connection.path()));
  }
  auto version = connection.use("SELECT version FROM spillway_schema");
  const std::int64_t found = version.step() ? version.integer(0) : 0;
  if (found < kSchemaVersion) {
    refuse(fmt::format("{} has schema version {}, and this Spillway needs {}: run `spillway init`", connection.path(),
                       found, kSchemaVersion));
  }
  if (found > kSchemaVersion) {
    refuse(fmt::format("{} has schema version {}, made by a newer Spillway; this one knows up to {}: upgrade it",
                       connection.path(), found, kSchemaVersion));
  }
  for (const char* table :
       {"spillway_outbox", "spillway_settled", "spillway_control", "spillway_override", "spillway_audit",
        "spillway_lease", "spillway_progress", "spillway_finished", "spillway_counter"}) {
    if (!has_table(connection, table)) {
      refuse(fmt::format("{} has lost its table {}: restore it from a backup", connection.path(), table));
    }
  }
}

void check_name(Connection& connection, const std::string& name) {
  auto other = connection.use("SELECT name FROM spillway_progress WHERE name <> ? LIMIT 1");
  if (!other.bind(name).step()) return;
  refuse(
      fmt::format("{} is relayed under the name {}, and a second relay named {} would publish every row again: set "
                  "outbox.name to {}",
                  connection.path(), other.text(0), name, other.text(0)));
}

std::vector<std::string> warnings(Connection& connection) {
  std::vector<std::string> found;
  auto mode = connection.use("PRAGMA journal_mode");
  if (mode.step() && mode.text(0) != "wal") {
    found.push_back(
        fmt::format("{} is in journal mode {}, where reading blocks writers: run `spillway init` to set WAL",
                    connection.path(), mode.text(0)));
  }
  mode.reset();
  try {
    const Transaction probe(connection, Transaction::Kind::kWrite);
  } catch (const Failure& failure) {
    if (failure.error_class != ErrorClass::kTransient) throw;
    found.push_back(fmt::format("{}; the relay begins when it is free", failure.what()));
  }
  return found;
}

// Reading is what nobody may deny for long: an exclusive lock does, and ends only with its holder.
std::unique_ptr<Connection> open_and_check(const StoreOptions& options) {
  try {
    auto connection = std::make_unique<Connection>(options.path, options.time_limit);
    check_schema(*connection);
    return connection;
  } catch (const Failure& failure) {
    if (failure.error_class != ErrorClass::kTransient) throw;
    refuse(
        fmt::format("{} is locked so that nobody else can even read it: end the process that holds it, or its "
                    "PRAGMA locking_mode=EXCLUSIVE",
                    options.path));
  }
}

}  // namespace

base::Result<std::vector<std::string>> inspect_file(const StoreOptions& options) {
  try {
    check_path(options.path);
    const auto connection = open_and_check(options);
    check_name(*connection, options.name);
    return warnings(*connection);
  } catch (const Failure& failure) {
    return base::fail(failure.error_class, failure.what());
  }
}

}  // namespace spillway::sqlite
