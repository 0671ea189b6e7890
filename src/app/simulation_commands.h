// How the commands around the simulator are called: simulate, which needs no configuration, and plan, which asks an
// outbox for what it is not given.
#pragma once

#include "app/operator_commands.h"

namespace spillway::app {

// The commands write their exit status to `status`, which outlives `app`'s parsing; `take_config` adds --config.
void add_simulation_commands(CLI::App& app, const std::function<void(CLI::App*)>& take_config, WithStore with_store,
                             int& status);

}  // namespace spillway::app
