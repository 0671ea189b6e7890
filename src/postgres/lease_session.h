// The lease row: taken, renewed and freed by single statements with the database's clock, on a connection of its own.
#pragma once

#include <string>

#include "ports/outbox_store.h"
#include "postgres/connection.h"

namespace spillway::postgres {

// Of an answer with the columns epoch, holder, holder_name, milliseconds until expiry, from `column` on.
ports::LeaseState lease_state_from(const Answer& answer, int row, int column);

class LeaseSession final : public ports::LeaseSession {
 public:
  LeaseSession(ConnectOptions connect, std::string outbox, std::string table_name);

  base::Result<ports::LeaseState> acquire(const base::Uuid& holder, const std::string& holder_name,
                                          std::chrono::milliseconds ttl) override;
  base::Status renew(const ports::Lease& lease, std::chrono::milliseconds ttl) override;
  base::Status release(const ports::Lease& lease) override;

 private:
  Connection connection_;
  std::string outbox_;
  std::string table_name_;
};

}  // namespace spillway::postgres
