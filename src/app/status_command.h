// `spillway status`: the store first, then the relay's own word where its HTTP answers.
#pragma once

#include <chrono>
#include <iosfwd>

#include "app/inquiry.h"
#include "ports/outbox_store.h"

namespace spillway::app {

struct StatusOptions {
  bool json = false;    // --json: as JSON, one line; with --watch one line a time
  bool watch = false;   // --watch: again every two seconds, until it is ended
  bool check = false;   // --check: exit 3 when something needs a person
  bool colour = false;  // `out` is a terminal and NO_COLOR is not set
  Inquiry inquiry{};
  std::chrono::milliseconds every = std::chrono::seconds(2);  // --watch
  int rounds = 0;                                             // of --watch; 0: for ever
};

// 1 where neither the store nor a relay answers.
int run_status(const StatusOptions& options, ports::OutboxStore& store, std::ostream& out, std::ostream& err);

}  // namespace spillway::app
