// Reads the outbox by cursor. SQLite has one writer at a time and AUTOINCREMENT never gives a seq out again, so rows
// become visible in order of seq: what is seen up to a seq stays complete up to it.
#pragma once

#include "ports/outbox_store.h"
#include "sqlite/session.h"

namespace spillway::sqlite {

class Reader final : public ports::OutboxReader {
 public:
  explicit Reader(StoreOptions options) : session_(std::move(options)) {}

  base::Result<model::Page> read(const model::Position& from, const std::string& expected_incarnation,
                                 ports::ReadLimits limits) override;
  base::Result<model::Page> read_again(std::span<const std::int64_t> seqs, const std::string& expected_incarnation,
                                       ports::ReadLimits limits) override;
  base::Result<std::vector<std::size_t>> keys_behind(std::span<const ports::KeyBefore> keys,
                                                     std::span<const model::Position> places,
                                                     const std::string& expected_incarnation) override;
  base::Result<model::Page> read_keys(std::span<const ports::KeyAfter> keys, std::span<const model::Position> places,
                                      const std::string& expected_incarnation, ports::ReadLimits limits) override;

 private:
  Session session_;
};

}  // namespace spillway::sqlite
