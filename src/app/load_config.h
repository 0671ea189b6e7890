// The configuration as a command needs it: what the file says, and what librdkafka, TLS and triage think of the parts
// that are meant for them.
#pragma once

#include <string>

#include "config/load.h"

namespace spillway::app {

// As config::load_file; faults of the librdkafka properties, of files of certificates and of rules carry their place
// too. Connects to nothing.
config::LoadResult load_config(const std::string& path, const config::Sources& sources);

}  // namespace spillway::app
