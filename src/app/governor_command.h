// `spillway governor show`, `hold`, `set` and `clear`: a person's limit, kept in the store for all instances. It always
// ends by itself.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "app/inquiry.h"
#include "ports/outbox_store.h"

namespace spillway::app {

struct GovernorShowOptions {
  Inquiry inquiry{};
  bool colour = false;
  bool json = false;  // --json
};

struct GovernorLimitOptions {
  std::optional<double> max{};  // --max N, events/s; empty: hold
  std::string lasts = "15m";    // --for 30m
  std::string reason{};         // --reason TEXT
  std::string who{};            // user@host
  bool json = false;            // --json
};

struct GovernorClearOptions {
  std::string reason{};
  std::string who{};
  bool json = false;
};

int run_governor_show(const GovernorShowOptions& options, ports::OutboxStore& store, std::ostream& out,
                      std::ostream& err);
int run_governor_limit(const GovernorLimitOptions& options, ports::OutboxStore& store, std::ostream& out,
                       std::ostream& err);
int run_governor_clear(const GovernorClearOptions& options, ports::OutboxStore& store, std::ostream& out,
                       std::ostream& err);

}  // namespace spillway::app
