// The outbox in an SQLite file. Each session is one connection in WAL mode, where reading and writing do not block each
// other; it connects when first used.
#pragma once

#include "ports/outbox_store.h"
#include "sqlite/session.h"

namespace spillway::sqlite {

class OutboxStore final : public ports::OutboxStore {
 public:
  explicit OutboxStore(StoreOptions options) : options_(std::move(options)) {}

  // Warns where writers block readers, and where another process holds the write lock just now.
  base::Result<std::vector<std::string>> inspect() override;

  std::unique_ptr<ports::OutboxReader> open_reader() override;
  std::unique_ptr<ports::OutboxLedger> open_ledger() override;
  std::unique_ptr<ports::LeaseSession> open_lease() override;
  std::unique_ptr<ports::OperatorSession> open_operator() override;
  std::unique_ptr<ports::TriageSession> open_triage() override;

  bool marks_rows() const override { return false; }
  bool finds_keys() const override { return true; }
  std::string describe() const override;

 private:
  StoreOptions options_;
};

}  // namespace spillway::sqlite
