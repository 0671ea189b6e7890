// What a target did between two scrapes.
#pragma once

#include "signals/scrape.h"

namespace spillway::signals {

struct ScrapeDelta {
  std::vector<CumulativeCounts> latencies{};  // one entry a series, never falling
  double completions = 0;
  double errors = 0;
  std::optional<double> latency_sum_s{};  // absent where a series gives none
  bool reset = false;                     // a counter went back: the target restarted, or it is another one
};

// Each series by itself: one that went back counts from zero, as does one that was not there before.
ScrapeDelta difference(const Scrape& before, const Scrape& now);

}  // namespace spillway::signals
