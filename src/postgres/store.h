// The outbox in PostgreSQL 13 or later. Each session is one connection, made when first used.
#pragma once

#include <atomic>
#include <string>

#include "ports/outbox_store.h"
#include "postgres/connection.h"
#include "postgres/layout.h"

namespace spillway::postgres {

struct StoreOptions {
  ConnectOptions connect;
  std::string outbox = "default";
  TableLayout layout{};
};

class OutboxStore final : public ports::OutboxStore {
 public:
  explicit OutboxStore(StoreOptions options) : options_(std::move(options)) {}

  base::Result<std::vector<std::string>> inspect() override;

  std::unique_ptr<ports::OutboxReader> open_reader() override;
  std::unique_ptr<ports::OutboxLedger> open_ledger() override;
  std::unique_ptr<ports::LeaseSession> open_lease() override;
  std::unique_ptr<ports::OperatorSession> open_operator() override;
  std::unique_ptr<ports::TriageSession> open_triage() override;

  bool marks_rows() const override { return options_.layout.marks_rows(); }
  bool finds_keys() const override { return finds_keys_; }
  std::string describe() const override { return "PostgreSQL " + postgres::describe(options_.connect.uri); }

 private:
  StoreOptions options_;
  std::atomic<bool> finds_keys_ = false;
};

}  // namespace spillway::postgres
