// When the place up to which all is finished is saved, and what is said with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "ports/outbox_store.h"

namespace spillway::relay {

class SavePlan {
 public:
  struct Options {
    base::Duration every = std::chrono::milliseconds(100);
    std::int64_t rows = 10'000;  // acknowledged and unsaved; from so many on it is saved at once
    bool marks_rows = false;     // SaveRequest::finished is wanted
  };

  explicit SavePlan(const Options& options) : options_(options) {}

  // What happened.
  void loaded(ports::Progress progress, base::Instant now);
  void published(std::int64_t seq);
  void recorded() { recorded_ = true; }  // rows, in the ledger
  void split() { ++splits_; }            // more became backlog

  // Whether a save may be made now. `at_once`: somebody waits for it; `within_frame`: the place passed rows.
  bool due(bool at_once, bool within_frame, base::Instant now) const;
  // The save, which is out until `saved` or until the next one where it failed. Empty where it would say nothing new
  // and is not `owed`.
  std::optional<ports::SaveRequest> next(ports::Progress progress, bool owed, base::Instant now);
  void saved();

  // Acknowledged rows that no save has named yet.
  std::int64_t unsaved() const { return unsaved_; }
  // It is on record what is backlog.
  bool splits_saved() const { return saved_splits_ == splits_; }
  // This is the place that was saved, or loaded.
  bool stands_at(const ports::Progress& progress) const {
    return progress.live == saved_.live && progress.backlog == saved_.backlog;
  }
  // When acknowledged rows are saved at the latest; empty where there are none.
  std::optional<base::Instant> next_wake() const;

 private:
  struct Saving {
    ports::Progress progress;
    std::int64_t published = 0;
    std::int64_t splits = 0;
    std::size_t acknowledged = 0;  // of acknowledged_, from the front
  };

  Options options_;
  ports::Progress saved_;
  Saving saving_;
  base::Instant last_{};
  std::int64_t unsaved_ = 0;
  std::vector<std::int64_t> acknowledged_;  // the same rows; only with marks_rows
  bool recorded_ = false;                   // since the last save
  std::int64_t splits_ = 0;
  std::int64_t saved_splits_ = 0;
};

}  // namespace spillway::relay
