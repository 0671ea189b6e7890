#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>

namespace spillway::config {

const std::string* KafkaConfig::find(std::string_view name) const {
  const auto found = std::find_if(properties.rbegin(), properties.rend(),
                                  [&](const KafkaProperty& property) { return property.name == name; });
  return found == properties.rend() ? nullptr : &found->value;
}

Origin Config::origin_of(const std::string& key) const {
  const auto found = origins.find(key);
  return found == origins.end() ? Origin{} : found->second;
}

std::string to_string(const Place& place) {
  return place.line == 0 ? place.file : fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

std::string to_string(const Origin& origin) {
  switch (origin.kind) {
    case Origin::Kind::kDefault: return "default";
    case Origin::Kind::kFile: return to_string(origin.place);
    case Origin::Kind::kEnvironment: return "environment " + origin.variable;
  }
  return {};
}

}  // namespace spillway::config
