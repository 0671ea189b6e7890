// A million old events through five rules: what `spillway triage` says of them, and what the daemon then does.
#pragma once

#include <cstdint>

#include "support/kafka_broker.h"
#include "support/postgres_server.h"

namespace spillway::bench {

struct Judging {
  double preview_per_s = 0;  // rows that `spillway triage` judged
  double daemon_per_s = 0;   // rows judged, recorded and, where that is the verdict, published; from start to last
  double rss_mib = 0;        // of the daemon, peak
  std::int64_t published = 0;
  std::int64_t reconciled = 0;
  std::int64_t discarded = 0;
};

// In a database of its own. Throws std::runtime_error where preview and outcome differ, by rule and verdict.
Judging measure_judging(const testing::PostgresServer& server, testing::KafkaBroker& broker, std::int64_t rows,
                        std::size_t payload_bytes);

}  // namespace spillway::bench
