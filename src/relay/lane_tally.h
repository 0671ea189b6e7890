// What left through each lane, since the start of the process.
#pragma once

#include <array>
#include <cstdint>

#include "relay/histogram.h"

namespace spillway::relay {

enum class Flow : std::uint8_t { kLive, kPromoted, kBacklog };
constexpr int kFlows = 3;
constexpr std::array<const char*, kFlows> kFlowNames = {"live", "promoted", "backlog"};

constexpr std::array<double, 16> kDelayBounds = {0.005, 0.010, 0.025, 0.050, 0.100, 0.250, 0.5,  1,
                                                 2.5,   5,     15,    60,    300,   1800,  7200, 86400};

struct LaneTally {
  std::int64_t published = 0;
  std::int64_t bytes = 0;
  Histogram<16> delay_seconds{kDelayBounds};  // from created_at to the acknowledgement
};

class LaneTallies {
 public:
  LaneTally& of(Flow flow) { return tallies_[static_cast<std::size_t>(flow)]; }
  const LaneTally& of(Flow flow) const { return tallies_[static_cast<std::size_t>(flow)]; }

  // Of all lanes together.
  Histogram<16> delay_seconds() const {
    Histogram<16> all{kDelayBounds};
    for (const LaneTally& tally : tallies_) all.add(tally.delay_seconds);
    return all;
  }

 private:
  std::array<LaneTally, kFlows> tallies_;
};

}  // namespace spillway::relay
