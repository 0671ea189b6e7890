#include "app/version.h"

#include <ostream>

#include "kafka/library_version.h"
#include "sqlite/library_version.h"

namespace spillway::app {

int print_version(std::ostream& out) {
  out << "spillway " SPILLWAY_VERSION "\n";
  out << "librdkafka " << kafka::library_version() << '\n';
  out << "sqlite " << sqlite::library_version() << '\n';
  return 0;
}

}  // namespace spillway::app
