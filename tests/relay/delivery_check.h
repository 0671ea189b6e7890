// What the topic holds against what the table holds.
#pragma once

#include <cstdint>
#include <string>

#include "support/postgres_server.h"

namespace spillway::testing {

struct Delivery {
  std::int64_t committed = 0;   // rows in the outbox
  std::int64_t lost = 0;        // of them not on the topic
  std::int64_t foreign = 0;     // on the topic, but in no committed row
  std::int64_t inversions = 0;  // first deliveries of a key that came before an earlier one
  std::int64_t duplicates = 0;
};

// For rows of topic `topic` whose payload is "KEY N" as Writers make it.
Delivery check_delivery(const PostgresServer& server, const std::string& bootstrap, const std::string& topic,
                        const std::string& database = "postgres");

}  // namespace spillway::testing
