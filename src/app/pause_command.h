// `spillway pause` and `spillway resume`: kept in the store, for all instances, across restarts.
#pragma once

#include <iosfwd>
#include <string>

#include "ports/outbox_store.h"

namespace spillway::app {

struct PauseOptions {
  std::string lane = "all";  // --lane all|backlog
  std::string reason{};      // --reason TEXT: kept and shown in every status
  std::string who{};         // user@host
  bool json = false;         // --json
};

int run_pause(const PauseOptions& options, ports::OutboxStore& store, std::ostream& out, std::ostream& err);
int run_resume(const PauseOptions& options, ports::OutboxStore& store, std::ostream& out, std::ostream& err);

}  // namespace spillway::app
