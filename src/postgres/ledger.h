// Progress, settlements and cleaning, each write one fenced statement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ports/outbox_store.h"
#include "postgres/connection.h"
#include "postgres/days.h"
#include "postgres/layout.h"

namespace spillway::postgres {

class Ledger final : public ports::OutboxLedger {
 public:
  Ledger(ConnectOptions connect, std::string outbox, TableLayout layout);

  // kMisconfigured where the saved progress belongs to another cluster.
  base::Result<ports::Loaded> load() override;
  base::Status save(const ports::Fence& fence, const ports::SaveRequest& request) override;
  base::Status record(const ports::Fence& fence, std::span<const model::Settlement> settlements) override;
  base::Status finish(const ports::Fence& fence, std::span<const std::int64_t> seqs) override;
  // Drops one finished day of a partitioned table, which counts as `rows`, and leaves alone the rows of other days.
  // Where this user may not, and in every other table: walks it by seq in pieces of `rows`, from where the last call
  // stopped; 0 may mean that this part of the table holds nothing to remove.
  base::Result<std::int64_t> clean_up(const ports::Fence& fence, std::chrono::seconds keep, std::size_t rows) override;
  // Adds partitions ahead, and says why clean_up could not drop a day.
  base::Status look_ahead() override;
  base::Result<std::vector<model::Settlement>> released(std::int64_t after, std::size_t limit) override;
  base::Result<std::int64_t> release_keys(const ports::Fence& fence, std::span<const std::string> keys) override;
  base::Result<std::vector<ports::HeldKey>> held_keys(ports::Holds holds) override;

 private:
  // A day was dropped.
  base::Result<bool> drop_day_of(const Days& days, const ports::Fence& fence, std::chrono::seconds keep);
  base::Result<std::int64_t> remove_rows(const std::string& table, const ports::Fence& fence, std::chrono::seconds keep,
                                         std::size_t rows);
  base::Result<std::int64_t> mark_discarded(const ports::Fence& fence, std::chrono::seconds keep, std::size_t rows);

  Connection connection_;
  std::string outbox_;
  TableLayout layout_;
  std::int64_t cleaned_to_ = 0;
  bool more_rows_ = false;                // the last piece was full: days come after the rows
  std::optional<base::Error> day_stays_;  // why the last finished day could not be dropped
};

}  // namespace spillway::postgres
