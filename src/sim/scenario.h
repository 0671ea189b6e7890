// What a simulation run is about: backlog, live traffic, downstream, path, clients, signal, faults. Times in seconds of
// virtual time from the start of the recovery, rates in events/s.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "governor/law.h"

namespace spillway::sim {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Span {
  double from = 0;
  double until = 0;
  bool contains(double t) const { return t >= from && t < until; }
};

struct LiveSpec {
  double rate = 1200;
  double sine_amplitude = 0;  // rate + amplitude * sin(2 pi t / period)
  double sine_period_s = 0;
  struct Step {
    double at;
    double rate;
  };
  std::vector<Step> steps;  // in order
  double foreign_rate = 0;  // traffic of others on the same downstream: seen in its counters, never held

  double offered(double t) const;  // own live traffic
};

enum class DownstreamKind { kFifo, kSharing, kContention };
enum class ServiceKind { kExponential, kLognormal, kBimodal };

struct DownstreamSpec {
  DownstreamKind kind = DownstreamKind::kFifo;
  int servers = 100;  // FIFO
  ServiceKind service = ServiceKind::kExponential;
  double service_mean_s = 0.05;
  double service_sigma = 0.8;  // lognormal: of the logarithm
  double slow_share = 0.05;    // bimodal: this share takes slow_factor times as long as the rest
  double slow_factor = 10;
  double peak_rate = 2000;         // sharing and contention
  double contention_a = 0.002032;  // X(N) = (N / mean) / (1 + a (N - 1) + b N (N - 1))
  double contention_b = 1.5967e-5;
  double accept_limit = kNever;      // in service and waiting; beyond it 503 at once
  std::optional<double> ideal_rate;  // the best rate that keeps the ceiling, where that is not the peak
  struct Bucket {
    double rate;
    double burst;
    double retry_after_s;
  };
  std::optional<Bucket> bucket;  // beyond it 429 at once
};

// From `at` on. Only what is set changes.
struct Change {
  double at = 0;
  std::optional<int> servers{};
  std::optional<double> factor{};  // of the rate, sharing and contention
  std::optional<double> service_mean_s{};
};

struct ClientSpec {
  double timeout_s = 2;
  int live_retries = 0;
  double retry_jitter_s = 0.5;
};

struct SignalFaults {
  double delay_s = 0;
  double window_s = 1;
  double loss = 0;  // share of windows that never arrive
  double late = 0;  // share of windows that arrive late_by_s later
  double late_by_s = 5;
  double noise = 0;  // relative, on mean and p99
  std::vector<Span> missing;
  std::vector<Span> frozen;  // the last sample again and again
  std::vector<Span> not_a_number;
  std::vector<Span>
      wrong_unit;  // latencies in milliseconds taken for seconds the other way round: 1000 times too small
  int targets = 1;
  std::vector<Span> target_silent;  // one of the targets does not answer
};

struct Target {
  double clear_over_ideal = 1.5;
  std::optional<double> seconds_over;         // absolute bound
  std::optional<double> seconds_over_oracle;  // bound above the oracle's
  std::optional<double> seconds_over_share;   // bound as a share of the run
};

struct Scenario {
  std::string name;
  std::string title;
  double backlog = 1'000'000;
  LiveSpec live;
  DownstreamSpec downstream;
  std::vector<Change> changes;     // in order
  std::vector<Span> pauses;        // the downstream completes nothing
  std::vector<Span> error_bursts;  // a tenth of the answers are errors, whatever the load
  double error_burst_share = 0.1;
  double path_s = 0;
  bool queue_in_topic = false;  // consumers take no more than the downstream serves: waiting shows as lag
  ClientSpec client;
  SignalFaults signal;
  std::vector<double> relay_restarts;
  governor::GovernorSpec governor;  // min, max; `signals` has the ceilings of the one signal
  Target target;

  double dead_time_s() const { return path_s + signal.delay_s + signal.window_s; }
  double capacity(double t) const;  // what the downstream can deliver, keeping the ceiling; 0 in a long pause
  double service_mean_s(double t) const;
};

}  // namespace spillway::sim
