// The body of POST /api/observations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace spillway::signals {

struct Observation {
  std::string name;
  double latency_s = 0;  // 0 to a day
  bool ok = true;
  double count = 1;  // answers it stands for; 1 to 1,000,000
};

// [{"name": "bank", "latency_ms": 151.2, "ok": true, "count": 1}, …]; ok and count may be left out, and one object may
// stand without the list. kRejected names the first entry that is wrong, and nothing of the body counts.
base::Result<std::vector<Observation>> read_observations(std::string_view body);

}  // namespace spillway::signals
