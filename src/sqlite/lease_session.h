// The lease, one row per outbox name in spillway_lease, by the store's own clock.
#pragma once

#include "ports/outbox_store.h"
#include "sqlite/session.h"

namespace spillway::sqlite {

class LeaseSession final : public ports::LeaseSession {
 public:
  explicit LeaseSession(StoreOptions options) : session_(std::move(options)) {}

  // Takes no write lock while somebody else holds the lease.
  base::Result<ports::LeaseState> acquire(const base::Uuid& holder, const std::string& holder_name,
                                          std::chrono::milliseconds ttl) override;
  base::Status renew(const ports::Lease& lease, std::chrono::milliseconds ttl) override;
  base::Status release(const ports::Lease& lease) override;

 private:
  Session session_;
};

// Empty where nobody ever held it. `mine` is false.
std::optional<ports::LeaseState> lease_state(Connection& connection, const std::string& name);

}  // namespace spillway::sqlite
