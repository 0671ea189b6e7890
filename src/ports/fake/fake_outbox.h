// The tables of an outbox in memory: what FakeOutboxStore stands on.
//
// Rows become visible in the order of their commits, which need not be the order of seq: a frame is a pair of commit
// numbers, as a pair of snapshots is in PostgreSQL. No clock: every time comes in as an argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ports/outbox_store.h"

namespace spillway::ports {

struct FakeRow {
  std::string aggregate_type = "account";
  std::string aggregate_id = "a-1";
  std::string type = "opened";
  std::optional<std::string> payload = "{}";
  std::optional<std::string> headers{};
  std::optional<model::Timestamp> created_at{};  // empty = the time of the insert
};

class FakeOutbox {
 public:
  // The application: a row gets its seq with the insert and is seen after the commit.
  std::int64_t insert(const FakeRow& row, std::int64_t now_micros);
  void commit(std::int64_t seq);
  void roll_back(std::int64_t seq);
  void erase(std::int64_t seq);
  std::size_t rows() const { return rows_.size(); }

  // Reading. `from` must have been made here; empty where it was not.
  std::optional<model::Page> read(const model::Position& from, ReadLimits limits, std::int64_t now_micros) const;
  model::Page read_again(std::span<const std::int64_t> seqs, ReadLimits limits, std::int64_t now_micros) const;
  // Empty where a place was not made here.
  std::optional<model::Page> read_keys(std::span<const KeyAfter> keys, std::span<const model::Position> places,
                                       ReadLimits limits, std::int64_t now_micros) const;
  std::optional<std::vector<std::size_t>> keys_behind(std::span<const KeyBefore> keys,
                                                      std::span<const model::Position> places) const;

  // Progress.
  const Progress& progress() const { return progress_; }
  void save(const SaveRequest& request, std::int64_t now_micros);
  std::int64_t clean_up(std::chrono::seconds keep, std::size_t rows, std::int64_t now_micros);

  // Settlements.
  void record(const model::Settlement& settlement, std::int64_t now_micros);
  void finish(std::int64_t seq);
  std::int64_t release_keys(std::span<const std::string> keys);
  std::vector<HeldKey> held_keys(Holds holds) const;
  std::vector<model::Settlement> released(std::int64_t after, std::size_t limit) const;
  std::vector<model::Settlement> select(const SettlementFilter& filter) const;
  model::Page settled_row(const base::Uuid& id, std::int64_t now_micros) const;
  std::optional<Whereabouts> whereabouts(const base::Uuid& id, std::int64_t now_micros) const;
  std::int64_t resolve(const SettlementFilter& filter, model::Verdict verdict, const std::string& reason,
                       const std::string& who, std::int64_t now_micros);

  // As TriageSession::newer_for_key has it.
  bool has_newer(const AskedRow& row) const;

  // Exact; lease and pause are left to the caller.
  Figures figures(std::int64_t now_micros) const;

 private:
  struct Stored {
    FakeRow row;
    base::Uuid id;
    model::Timestamp created_at;
    std::int64_t commit = 0;  // 0 = not yet
  };
  // What is not finished of a position's frame: commits in (from, to], seq beyond `after`.
  struct Rest {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t after = 0;
    bool open = false;  // the position did not say where it ends

    bool has(std::int64_t seq, const Stored& stored) const {
      return stored.commit > from && stored.commit <= to && seq > after;
    }
  };

  std::optional<Rest> rest_of(const model::Position& position) const;
  std::vector<Rest> waiting_in(const Progress& progress) const;
  std::vector<std::int64_t> members(const Rest& rest, std::size_t limit) const;
  static void append(model::Page& page, std::int64_t seq, const Stored& stored);
  void release_stopped(const std::string& key);

  std::map<std::int64_t, Stored> rows_;
  std::map<std::int64_t, std::int64_t> seq_by_commit_;
  std::map<std::int64_t, model::Settlement> settled_;
  std::int64_t last_seq_ = 0;
  std::int64_t last_commit_ = 0;
  Progress progress_;
  std::optional<std::int64_t> saved_at_;
  std::vector<std::pair<std::int64_t, Progress>> kept_;  // one an hour, oldest first
  std::int64_t published_ = 0;
  std::int64_t discarded_ = 0;
  std::int64_t reconciled_ = 0;
};

}  // namespace spillway::ports
