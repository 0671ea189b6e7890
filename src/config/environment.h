// How keys are called in the environment.
#pragma once

#include <string>
#include <string_view>

#include "config/fault.h"
#include "config/load.h"

namespace spillway::config {

// `outbox.cleanup.keep` → SPILLWAY_OUTBOX_CLEANUP_KEEP: SPILLWAY_, then the path in capitals with '.' as '_'.
// librdkafka properties alike: `bootstrap.servers` under `kafka` → SPILLWAY_KAFKA_BOOTSTRAP_SERVERS.
std::string variable_name(std::string_view key);

// The librdkafka property that a variable names, empty for other variables. Every '_' of the rest is a '.': no property
// that takes text has a '_' in its name.
std::string property_of_variable(std::string_view variable);

// A variable that names a section of the configuration but none of its keys is probably a slip. What Kubernetes sets
// for a service (…_SERVICE_HOST, …_PORT_80_TCP) is not.
std::vector<Warning> unknown_variables(const Sources& sources);

}  // namespace spillway::config
