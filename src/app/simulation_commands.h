// How the commands that need neither configuration nor store are called: simulate, plan.
#pragma once

namespace CLI {
class App;
}

namespace spillway::app {

// The commands write their exit status to `status`, which outlives `app`'s parsing.
void add_simulation_commands(CLI::App& app, int& status);

}  // namespace spillway::app
