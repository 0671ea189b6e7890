// The user's librdkafka properties, and what Spillway sets where the user is silent.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

struct rd_kafka_conf_s;

namespace spillway::kafka {

// Names as in librdkafka's CONFIGURATION.md. A later entry wins over an earlier one of the same name.
using Properties = std::vector<std::pair<std::string, std::string>>;

// Everything wrong with them, one sentence each, without connecting anywhere: unknown names (with the nearest known
// one), values that librdkafka refuses alone or together, files that it cannot read, and settings under which rows
// could be lost or reordered. Values are never repeated for names that hold secrets.
std::vector<std::string> property_faults(const Properties& properties);

// kMisconfigured with all of the above in one message.
base::Status check_properties(const Properties& properties);

// Defaults first, then the user's; kMisconfigured names the first property that librdkafka refuses. The caller owns the
// result (rd_kafka_conf_destroy, or rd_kafka_new takes it).
base::Result<rd_kafka_conf_s*> make_conf(const Properties& properties);

// The last value the user or the defaults give, empty where neither does. Knows the aliases of the names it is asked.
std::string effective(const Properties& properties, const std::string& name);

}  // namespace spillway::kafka
