// Sources without an outside world, for the tests of this folder.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "config/load.h"

namespace spillway::config {

inline Sources fake_sources(std::map<std::string, std::string> environment = {},
                            std::map<std::string, std::string> files = {}) {
  return {std::move(environment), [files = std::move(files)](const std::string& path) -> base::Result<std::string> {
            const auto found = files.find(path);
            if (found != files.end()) return found->second;
            return base::fail(base::ErrorClass::kMisconfigured, "no such file");
          }};
}

// Line 1 and 2 of a configuration that lacks nothing.
inline const std::string kComplete = "outbox: {store: \"sqlite:x.db\"}\nkafka: {bootstrap.servers: \"b:9092\"}\n";

}  // namespace spillway::config
