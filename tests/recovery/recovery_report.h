// What a recovery on the real stack gave, in the same terms as a simulated one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bank/bank.h"
#include "bank/bank_consumer.h"
#include "recovery/recorder.h"

namespace spillway::testing {

// What the relay said of itself; empty = it did not answer or did not say.
struct StatusSample {
  double at = 0;  // seconds since the relay's start
  std::optional<double> backlog{};
  std::optional<double> capacity{};
  std::optional<double> budget{};
  std::string state{};
  std::string reason{};
  std::int64_t bank_waiting = 0;
};

struct RecoveryReport {
  std::string scenario;
  std::optional<double> clear_s;  // the last backlog event done
  std::optional<double> ideal_s;
  double seconds_over = 0;  // 1 s bins with live p99 over the ceiling
  double worst_p99_s = 0;   // of live
  // Committed, and neither delivered nor settled at the end of the run. What still waits is among them.
  std::int64_t lost = 0;
  std::int64_t inversions = 0;  // per key, among first deliveries
  std::int64_t duplicates = 0;
  // Of live events from the tenth second on, commit to append.
  double longest_hold_s = 0;           // where the key has no backlog
  double longest_promoted_hold_s = 0;  // where it has
  double live_p99_s = 0;               // keys without backlog
  std::int64_t live_measured = 0;      // the events that this stands on
  double attempts_per_event = 0;
  bank::ConsumerFigures consumer;
  std::vector<SecondSeen> seconds;
  std::vector<StatusSample> statuses;

  std::optional<double> ratio() const {
    if (!clear_s || !ideal_s || *ideal_s <= 0) return std::nullopt;
    return *clear_s / *ideal_s;
  }
  // What the relay said last of the events that wait.
  std::optional<double> last_backlog() const;
  // Events/s, the highest of the five second means that lie within [from, until).
  double highest_backlog_rate(double from, double until) const;
  double highest_total_rate(double from, double until) const;
  // The first whole second at or after `from` that begins ten seconds without a late answer or a live p99 over
  // `ceiling_s`, in which at least nine tenths of `live_rate` were done.
  std::optional<double> healthy_again(double from, double ceiling_s, double live_rate) const;
};

std::string to_text(const RecoveryReport& report);
// One line a second, for a look at where it went wrong.
void write_trace(const RecoveryReport& report, const std::filesystem::path& file);

}  // namespace spillway::testing
