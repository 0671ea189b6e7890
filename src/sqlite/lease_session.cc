#include "sqlite/lease_session.h"

#include <fmt/format.h>

namespace spillway::sqlite {
namespace {

// Only where it is free, run out, or this holder's already.
constexpr char kTake[] =
    "INSERT INTO spillway_lease (name, holder, holder_name, epoch, expires_at) VALUES (?1, ?2, ?3, 1, ?4)"
    " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, holder_name = excluded.holder_name,"
    " epoch = epoch + (holder IS NOT excluded.holder), expires_at = excluded.expires_at"
    " WHERE holder IS NULL OR holder = excluded.holder OR expires_at <= ?5";

bool held_by_another(const std::optional<ports::LeaseState>& state, const base::Uuid& holder) {
  return state && state->lease.holder != holder && state->lease.holder != base::Uuid{} && state->expires_in.count() > 0;
}

}  // namespace

std::optional<ports::LeaseState> lease_state(Connection& connection, const std::string& name) {
  const std::int64_t now = now_millis(connection);
  auto row = connection.use("SELECT holder, holder_name, epoch, expires_at FROM spillway_lease WHERE name = ?");
  if (!row.bind(name).step()) return std::nullopt;
  ports::LeaseState state;
  state.lease.holder = base::parse_uuid(row.text(0)).value_or(base::Uuid{});
  state.holder_name = row.text(1);
  state.lease.epoch = row.integer(2);
  state.expires_in = std::chrono::milliseconds(row.integer(3) - now);
  return state;
}

base::Result<ports::LeaseState> LeaseSession::acquire(const base::Uuid& holder, const std::string& holder_name,
                                                      std::chrono::milliseconds ttl) {
  auto seen = session_.answer([&](Connection& connection) { return lease_state(connection, session_.name()); });
  if (!seen) return std::unexpected(seen.error());
  if (held_by_another(*seen, holder)) return **seen;
  return session_.write([&](Connection& connection) {
    const std::int64_t now = now_millis(connection);
    const std::string text = base::to_string(holder);
    connection.use(kTake).bind(session_.name()).bind(text).bind(holder_name).bind(now + ttl.count()).bind(now).run();
    ports::LeaseState state = lease_state(connection, session_.name()).value_or(ports::LeaseState{});
    state.mine = state.lease.holder == holder;
    return state;
  });
}

base::Status LeaseSession::renew(const ports::Lease& lease, std::chrono::milliseconds ttl) {
  return session_.write([&](Connection& connection) {
    auto renew = connection.use("UPDATE spillway_lease SET expires_at = ? WHERE name = ? AND holder = ? AND epoch = ?");
    const std::string holder = base::to_string(lease.holder);
    renew.bind(now_millis(connection) + ttl.count()).bind(session_.name()).bind(holder).bind(lease.epoch);
    if (renew.run() == 0) {
      throw Failure(base::ErrorClass::kLostLease, fmt::format("the lease on outbox {} is no longer held with epoch {}",
                                                              session_.name(), lease.epoch));
    }
  });
}

base::Status LeaseSession::release(const ports::Lease& lease) {
  return session_.write([&](Connection& connection) {
    auto free = connection.use(
        "UPDATE spillway_lease SET holder = NULL, holder_name = '', expires_at = 0"
        " WHERE name = ? AND holder = ? AND epoch = ?");
    const std::string holder = base::to_string(lease.holder);
    free.bind(session_.name()).bind(holder).bind(lease.epoch).run();
  });
}

}  // namespace spillway::sqlite
