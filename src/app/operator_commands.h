// The commands that a person gives on an outbox, on the command line.
#pragma once

#include <functional>
#include <memory>

#include "config/config.h"
#include "ports/outbox_store.h"

namespace CLI {
class App;
}

namespace spillway::app {

// Loads the configuration, opens its store, and runs the command; the exit status.
using OnStore = std::function<int(const config::Config&, ports::OutboxStore&)>;
using WithStore = std::function<int(const OnStore&)>;

// Adds status, triage, pause, resume, governor, reconcile and explain. They write the exit status to `status`, which
// must stay valid until the command line was parsed; `take_config` adds --config.
void add_operator_commands(CLI::App& app, const std::function<void(CLI::App*)>& take_config, WithStore with_store,
                           int& status);

}  // namespace spillway::app
