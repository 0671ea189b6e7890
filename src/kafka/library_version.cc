#include "kafka/library_version.h"

#include <librdkafka/rdkafka.h>

namespace spillway::kafka {

std::string library_version() { return rd_kafka_version_str(); }

}  // namespace spillway::kafka
