// `spillway run`: one relay with everything around it.
#pragma once

#include <string>

#include "config/config.h"

namespace spillway::app {

// Relays until SIGTERM or SIGINT, then drains within `shutdown.limit`. Returns the exit status.
int run_daemon(const config::Config& config, const std::string& config_path);

}  // namespace spillway::app
