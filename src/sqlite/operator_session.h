// What people do to the outbox in the file, relay up or not.
#pragma once

#include "ports/outbox_store.h"
#include "sqlite/session.h"

namespace spillway::sqlite {

class OperatorSession final : public ports::OperatorSession {
 public:
  explicit OperatorSession(StoreOptions options) : session_(std::move(options)) {}

  base::Result<ports::Figures> figures() override;

  base::Status pause(ports::Lane lane, const std::string& reason, const std::string& who) override;
  base::Status resume(ports::Lane lane, const std::string& reason, const std::string& who) override;
  base::Status set_override(const ports::OverrideRequest& request) override;
  base::Status clear_override(const std::string& reason, const std::string& who) override;
  base::Result<ports::Controls> controls() override;

  base::Result<std::vector<model::Settlement>> settlements(const ports::SettlementFilter& filter) override;
  base::Result<model::Page> settled_row(const base::Uuid& id) override;
  base::Result<std::optional<ports::Whereabouts>> whereabouts(const base::Uuid& id) override;
  // Only open settlements are resolved, whatever the filter's open_only says.
  base::Result<std::int64_t> resolve(const ports::SettlementFilter& filter, model::Verdict verdict,
                                     const std::string& reason, const std::string& who) override;

 private:
  base::Status set_pause(ports::Lane lane, bool paused, const std::string& reason, const std::string& who);

  Session session_;
};

}  // namespace spillway::sqlite
