// LISTEN on a direct connection, which makes polling quicker where `init --notify` was used.
#pragma once

#include <string>

#include "ports/outbox_store.h"
#include "postgres/connection.h"

namespace spillway::postgres {

class ArrivalHint final : public ports::ArrivalHint {
 public:
  // `connect.uri` is outbox.listen. Nothing is connected before the first wait.
  explicit ArrivalHint(ConnectOptions connect);

  // Also true right after a new connection: rows may have come while there was none.
  base::Result<bool> wait(std::chrono::milliseconds limit) override;

 private:
  base::Status listen();

  ConnectOptions connect_;
  Connection connection_;
};

}  // namespace spillway::postgres
