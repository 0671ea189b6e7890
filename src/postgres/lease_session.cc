#include "postgres/lease_session.h"

#include <fmt/format.h>

#include <array>

namespace spillway::postgres {
namespace {

using base::ErrorClass;

constexpr char kLeaseColumns[] =
    "epoch, holder, holder_name, floor(extract(epoch from expires_at - clock_timestamp()) * 1000)::bigint";

}  // namespace

ports::LeaseState lease_state_from(const Answer& answer, int row, int column) {
  ports::LeaseState state;
  state.lease.epoch = answer.number(row, column);
  state.lease.holder = base::parse_uuid(answer.text(row, column + 1)).value_or(base::Uuid{});
  state.holder_name = answer.text(row, column + 2);
  state.expires_in = std::chrono::milliseconds(answer.number(row, column + 3));
  return state;
}

LeaseSession::LeaseSession(ConnectOptions connect, std::string outbox, std::string table_name)
    : connection_(std::move(connect)), outbox_(std::move(outbox)), table_name_(std::move(table_name)) {}

base::Result<ports::LeaseState> LeaseSession::acquire(const base::Uuid& holder, const std::string& holder_name,
                                                      std::chrono::milliseconds ttl) {
  static const std::string kAcquire = fmt::format(
      "with taken as (insert into spillway.lease as l "
      "(outbox, table_name, epoch, holder, holder_name, expires_at, renewals) "
      "values ($1, $2, 1, $3::uuid, $4, clock_timestamp() + make_interval(secs => $5::double precision), 1) "
      "on conflict (outbox) do update set table_name = excluded.table_name, "
      "epoch = l.epoch + case when l.holder = excluded.holder then 0 else 1 end, holder = excluded.holder, "
      "holder_name = excluded.holder_name, expires_at = excluded.expires_at, renewals = l.renewals + 1 "
      "where l.holder is null or l.holder = excluded.holder or l.expires_at <= clock_timestamp() returning {0}) "
      "select *, true from taken union all "
      "select {0}, false from spillway.lease where outbox = $1 and not exists (select from taken)",
      kLeaseColumns);
  const std::array<Value, 5> values{outbox_, table_name_, base::to_string(holder), holder_name,
                                    fmt::format("{}", std::chrono::duration<double>(ttl).count())};
  const auto answer = connection_.ask(kAcquire, values);
  if (!answer) return std::unexpected(answer.error());
  // Somebody inserted the very first row between our insert and our look at it.
  if (answer->rows() == 0) return base::fail(ErrorClass::kTransient, "the lease was taken by another at this moment");
  ports::LeaseState state = lease_state_from(*answer, 0, 0);
  state.mine = answer->flag(0, 4);
  return state;
}

base::Status LeaseSession::renew(const ports::Lease& lease, std::chrono::milliseconds ttl) {
  const auto answer = connection_.ask(
      "update spillway.lease set expires_at = clock_timestamp() + make_interval(secs => $4::double precision), "
      "renewals = renewals + 1 where outbox = $1 and epoch = $2::bigint and holder = $3::uuid returning 1",
      std::array<Value, 4>{outbox_, std::to_string(lease.epoch), base::to_string(lease.holder),
                           fmt::format("{}", std::chrono::duration<double>(ttl).count())});
  if (!answer) return std::unexpected(answer.error());
  if (answer->rows() == 0) {
    return base::fail(ErrorClass::kLostLease, fmt::format("the lease on outbox {} is no longer ours", outbox_));
  }
  return {};
}

base::Status LeaseSession::release(const ports::Lease& lease) {
  const auto answer = connection_.ask(
      "update spillway.lease set holder = null, expires_at = clock_timestamp() "
      "where outbox = $1 and epoch = $2::bigint and holder = $3::uuid",
      std::array<Value, 3>{outbox_, std::to_string(lease.epoch), base::to_string(lease.holder)});
  if (!answer) return std::unexpected(answer.error());
  return {};
}

}  // namespace spillway::postgres
