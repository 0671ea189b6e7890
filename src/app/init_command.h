// `spillway init`: creates or upgrades the schema, or prints its SQL.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "config/config.h"

namespace spillway::app {

struct InitOptions {
  bool print = false;
  std::optional<std::string> payload;  // text, bytea, json or jsonb
  bool notify = false;
  bool roles = false;
  bool partitioned = false;
  bool repair_restored = false;
};

// Prints what changed on `out`. 0 done, 1 the database did not answer, 2 the configuration or the table is not as it
// must be.
int run_init(const InitOptions& options, const config::Config& config, std::ostream& out, std::ostream& err);

}  // namespace spillway::app
