// The relay's own publish latency: how long the broker takes to acknowledge.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "signals/latency_buckets.h"
#include "signals/signal_source.h"

namespace spillway::signals {

// As they stand since the relay's start.
struct PublishFigures {
  std::span<const double> bounds_s;       // upper bounds of the buckets, rising
  std::span<const std::uint64_t> counts;  // by bucket; one more than the bounds, for what lies above them all
  double sum_s = 0;                       // of all latencies
  double throttle_s = 0;                  // what the broker last asked for by its quota; 0 = nothing
};

// A window is the time between two calls that are at least a second apart. No acknowledgement is a sample of zero: the
// relay itself is alive, or it would not say so.
class RelaySource final : public SignalSource {
 public:
  RelaySource(double latency_ceiling_s, Emit emit) : latency_ceiling_s_(latency_ceiling_s), emit_(std::move(emit)) {}

  // About once a second.
  void publish(base::Instant now, const PublishFigures& figures);

  std::string trouble(base::Instant now) const override;

 private:
  struct Before {
    base::Instant at;
    std::vector<std::uint64_t> counts;
    double sum_s = 0;
  };

  void remember(base::Instant now, const PublishFigures& figures);
  governor::SignalSample window(base::Instant now, const PublishFigures& figures);

  double latency_ceiling_s_;
  Emit emit_;
  std::optional<Before> before_;
  double throttle_s_ = 0;  // the longest in the open window
};

}  // namespace spillway::signals
