// What people do: pauses and settlements. Nothing here needs the lease.
#pragma once

#include <string>
#include <vector>

#include "ports/outbox_store.h"
#include "postgres/connection.h"
#include "postgres/layout.h"
#include "postgres/reader.h"
#include "postgres/waiting.h"

namespace spillway::postgres {

class OperatorSession final : public ports::OperatorSession {
 public:
  OperatorSession(ConnectOptions connect, std::string outbox, TableLayout layout);

  base::Result<ports::Figures> figures() override;
  base::Status pause(ports::Lane lane, const std::string& reason, const std::string& who) override;
  base::Status resume(ports::Lane lane, const std::string& reason, const std::string& who) override;
  base::Status set_override(const ports::OverrideRequest& request) override;
  base::Status clear_override(const std::string& reason, const std::string& who) override;
  base::Result<ports::Controls> controls() override;
  base::Result<std::vector<model::Settlement>> settlements(const ports::SettlementFilter& filter) override;
  base::Result<model::Page> settled_row(const base::Uuid& id) override;
  base::Result<std::optional<ports::Whereabouts>> whereabouts(const base::Uuid& id) override;
  // Open rows only, whatever the filter says.
  base::Result<std::int64_t> resolve(const ports::SettlementFilter& filter, model::Verdict verdict,
                                     const std::string& reason, const std::string& who) override;

 private:
  base::Status set_pause(ports::Lane lane, bool paused, const std::string& reason, const std::string& who);

  Connection connection_;
  Reader reader_;
  std::string outbox_;
  TableLayout layout_;
};

}  // namespace spillway::postgres
