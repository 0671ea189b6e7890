// From a writer's commit to the moment a consumer has the record: an upper bound of commit to acknowledgement.
#pragma once

#include <string>

namespace spillway::bench {

struct Latency {
  double p50_ms = 0;
  double p99_ms = 0;
};

// `rate` events a second for `seconds`, into spillway.outbox, each in a transaction of its own.
Latency measure_latency(const std::string& uri, const std::string& bootstrap, const std::string& topic, int rate,
                        int seconds);

}  // namespace spillway::bench
