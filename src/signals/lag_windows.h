// What a consumer group left waiting and how fast it takes, as windows. No I/O.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "governor/signal.h"
#include "kafka/group_query.h"

namespace spillway::signals {

// One window for each answer that comes a second or more after the one before.
//
// What waits is the sum of end - committed over all partitions. What is taken and not committed yet still counts as
// waiting: never less than the truth, more by the commit interval.
//
// Consumers commit from time to time, so the rate is that of the last stretch between two commits that were at least a
// second apart. When the next one is overdue the stretch reaches to now, and after 6 s without any (a client's own
// interval is 5 s) nothing is being taken. `completions` are at least one a second, as the governor divides by no less:
// a group that stands still then shows as lag and not as a signal that is missing, and one with nothing to do as well.
class LagWindows {
 public:
  std::optional<governor::SignalSample> answered(base::Instant now,
                                                 const std::vector<kafka::GroupPartition>& partitions);

  // About the last answer; empty: nothing.
  const std::string& trouble() const { return trouble_; }

 private:
  using Place = std::pair<std::string, std::int32_t>;
  struct Progress {
    std::int64_t committed = 0;
    base::Instant moved_at;
  };
  struct Commit {
    base::Instant at;
    double taken;  // since the commit before
  };

  double take(base::Instant now, const std::vector<kafka::GroupPartition>& partitions);
  void look_at(base::Instant now, const kafka::GroupPartition& partition, double waiting);
  double rate(base::Instant now) const;  // events/s

  std::map<Place, Progress> progress_;
  std::deque<Commit> commits_;  // of the last 30 s, and the one before
  std::optional<base::Instant> window_from_;
  double waiting_ = 0;
  std::uint32_t known_ = 0;
  std::uint32_t expected_ = 0;
  std::string trouble_;
};

}  // namespace spillway::signals
