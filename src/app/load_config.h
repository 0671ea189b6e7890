// The configuration as a command needs it: what the file says, and what librdkafka thinks of the properties meant for
// it.
#pragma once

#include <string>

#include "config/load.h"

namespace spillway::app {

// As config::load_file; faults of the librdkafka properties carry their place too. Connects to nothing.
config::LoadResult load_config(const std::string& path, const config::Sources& sources);

}  // namespace spillway::app
