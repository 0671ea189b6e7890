// What a recovery looked like from behind the topic, second by second.
//
// Any thread, except that the accessors are for when nobody records any more, backlog_done() apart.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bank/bank.h"
#include "bank/record_feed.h"
#include "base/time.h"

namespace spillway::testing {

struct SecondSeen {
  std::int64_t sent_live = 0;  // first deliveries, by the time of their append
  std::int64_t sent_backlog = 0;
  std::int64_t done = 0;  // calls answered in time
  std::int64_t late = 0;  // calls answered after their caller had gone, or refused
  double p99_s = 0;       // of all answers, late ones included; 0 where there were none
  double live_p99_s = 0;
};

// The value that a share `q` of the values does not exceed; 0 for no values.
double quantile(std::vector<double> values, double q);
// The same of values that a clock rounded to whole `tick`s: those that are equal are taken as spread evenly over one
// tick around it, as is usual for grouped data. Without that 6 ms and 8 ms is all that can be told apart.
double quantile_of_ticks(std::vector<double> values, double q, double tick);

class Recorder {
 public:
  // `origin_ms` is the same moment in Unix time, the clock of the topic.
  Recorder(base::Instant origin, std::int64_t origin_ms) : origin_(origin), origin_ms_(origin_ms) {}

  std::int64_t origin_ms() const { return origin_ms_; }
  static std::uint64_t tag_of(const bank::Record& record);
  void on_answer(const bank::Answer& answer);
  void on_delivery(const bank::Record& record, bool first);
  void on_done(const bank::Record& record, base::Instant at);

  std::int64_t backlog_done() const;  // events, however often they came
  // When the last backlog event was done for the first time, in seconds since the origin.
  double last_backlog_done_s() const;
  // `count` seconds, empty ones included.
  std::vector<SecondSeen> seconds(std::size_t count) const;
  // Unix time at which the first delivery of a live event was appended.
  std::optional<std::int64_t> live_appended_ms(std::int64_t number) const;

 private:
  struct Second {
    SecondSeen seen;
    std::vector<double> latencies;
    std::vector<double> live_latencies;
  };
  Second* second_at(double since_origin);

  base::Instant origin_;
  std::int64_t origin_ms_;
  mutable std::mutex mutex_;
  std::vector<Second> seconds_;
  std::unordered_map<std::int64_t, std::int64_t> live_appended_ms_;
  std::unordered_set<std::int64_t> backlog_done_;
  double last_backlog_done_s_ = 0;
};

}  // namespace spillway::testing
