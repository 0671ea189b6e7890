// What the relay writes about its own work: progress, settlements, cleanup.
#pragma once

#include "ports/outbox_store.h"
#include "sqlite/session.h"

namespace spillway::sqlite {

class Ledger final : public ports::OutboxLedger {
 public:
  explicit Ledger(StoreOptions options) : session_(std::move(options)) {}

  // kMisconfigured where sqlite_sequence was set back below the saved progress: new rows would never be read.
  base::Result<ports::Loaded> load() override;
  base::Status save(const ports::Fence& fence, const ports::SaveRequest& request) override;
  // A settlement that is history already stays as it is.
  base::Status record(const ports::Fence& fence, std::span<const model::Settlement> settlements) override;
  base::Status finish(const ports::Fence& fence, std::span<const std::int64_t> seqs) override;
  // Positions are kept once an hour, so a row may stay up to an hour longer than `keep`. Rows go in small transactions
  // of their own; what went before a failure counts as a success.
  base::Result<std::int64_t> clean_up(const ports::Fence& fence, std::chrono::seconds keep, std::size_t rows) override;
  base::Result<std::vector<model::Settlement>> released(std::int64_t after, std::size_t limit) override;
  base::Result<std::int64_t> release_keys(const ports::Fence& fence, std::span<const std::string> keys) override;
  base::Result<std::vector<ports::HeldKey>> held_keys(ports::Holds holds) override;

 private:
  Session session_;
};

}  // namespace spillway::sqlite
