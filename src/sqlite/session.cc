#include "sqlite/session.h"

#include <fmt/format.h>

#include <filesystem>

#include "sqlite/schema.h"

namespace spillway::sqlite {

using base::ErrorClass;

Connection& Session::connected() {
  if (connection_ && connection_->moved()) connection_.reset();
  if (!connection_) {
    std::error_code ignored;
    if (!std::filesystem::exists(options_.path, ignored)) {
      throw Failure(ErrorClass::kUnavailable,
                    fmt::format("{} does not exist: run `spillway init`, or correct outbox.store", options_.path));
    }
    connection_ = std::make_unique<Connection>(options_.path, options_.time_limit);
  }
  return *connection_;
}

void Session::check_fence(Connection& connection, const ports::Fence& fence) const {
  if (const auto now = incarnation(connection); now != fence.incarnation) {
    throw Failure(ErrorClass::kLostPlace, fmt::format("{} was replaced by another file", connection.path()));
  }
  auto lease = connection.use("SELECT 1 FROM spillway_lease WHERE name = ? AND epoch = ? AND holder = ?");
  const std::string holder = base::to_string(fence.holder);
  if (!lease.bind(name()).bind(fence.epoch).bind(holder).step()) {
    throw Failure(ErrorClass::kLostLease,
                  fmt::format("the lease on outbox {} is no longer held with epoch {}", name(), fence.epoch));
  }
}

std::string incarnation(Connection& connection) {
  auto file = connection.use("SELECT file_id FROM spillway_schema");
  if (!file.step()) {
    throw Failure(ErrorClass::kMisconfigured, fmt::format("{} has no schema: run `spillway init`", connection.path()));
  }
  return fmt::format("{}@{}", file.text(0), connection.file_mark());
}

std::int64_t now_millis(Connection& connection) {
  auto clock = connection.use("SELECT " SPILLWAY_SQLITE_NOW_MS);
  clock.step();
  return clock.integer(0);
}

std::int64_t newest_seq(Connection& connection) {
  auto newest = connection.use("SELECT seq FROM sqlite_sequence WHERE name = 'spillway_outbox'");
  return newest.step() ? newest.integer(0) : 0;
}

}  // namespace spillway::sqlite
