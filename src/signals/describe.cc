#include "signals/describe.h"

#include <algorithm>

namespace spillway::signals {
namespace {

constexpr double kLeastDeadTimeS = 1;
constexpr double kDefaultCommitIntervalS = 5;
// Publishing and fetching take less than this while nothing queues. It only has to be no less than what they take: the
// window that is made of it holds the backlog back where the broker stops answering, not in a quiet second.
constexpr double kPathS = 0.25;

double dead_time_s(const config::SignalConfig& config) {
  if (config.dead_time) return std::max(kLeastDeadTimeS, base::seconds(*config.dead_time));
  const double commits = config.kind == config::SignalKind::kKafkaLag ? kDefaultCommitIntervalS : 0;
  return kLeastDeadTimeS + base::seconds(config.every) + commits;
}

}  // namespace

governor::SignalSpec describe(const config::SignalConfig& config) {
  governor::SignalSpec spec;
  spec.name = config.name;
  spec.dead_time_s = dead_time_s(config);
  // Samples come at most once a second, however often is asked.
  spec.every_s = std::max(1.0, base::seconds(config.every));
  spec.tolerance = config.tolerance.value;
  spec.base_path_s = kPathS;
  // A group may read less than we send, and what others send as well.
  spec.counts_events = config.kind != config::SignalKind::kHttpProbe && config.kind != config::SignalKind::kKafkaLag;
  if (config.latency_ceiling) spec.latency_ceiling_s = base::seconds(*config.latency_ceiling);
  if (config.ceiling) spec.lag_ceiling_s = base::seconds(*config.ceiling);
  if (config.error_ceiling) {
    spec.error_ceiling = config.error_ceiling->value;
  } else if (config.kind != config::SignalKind::kHttpProbe) {
    spec.error_ceiling = 1;
  }
  return spec;
}

}  // namespace spillway::signals
