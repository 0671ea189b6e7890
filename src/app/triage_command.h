// `spillway triage`: what the rules would do with all that waits now. Changes nothing.
#pragma once

#include <iosfwd>

#include "config/config.h"
#include "ports/outbox_store.h"

namespace spillway::app {

struct TriageOptions {
  bool json = false;      // --json
  int sample = 0;         // --sample N: the ids of the first N events of each line
  bool progress = false;  // `err` is a terminal: show how far it is
};

// 2 where a rule is wrong in the eyes of the database.
int run_triage(const TriageOptions& options, const config::Config& config, ports::OutboxStore& store, std::ostream& out,
               std::ostream& err);

}  // namespace spillway::app
