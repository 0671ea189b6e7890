#include "config/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "config/key_table.h"
#include "config/nearest.h"

namespace spillway::config {
namespace {

constexpr std::string_view kPrefix = "SPILLWAY_";
constexpr std::string_view kKafkaPrefix = "SPILLWAY_KAFKA_";

bool set_by_kubernetes(std::string_view variable) {
  return variable.find("_SERVICE_HOST") != variable.npos || variable.find("_SERVICE_PORT") != variable.npos ||
         variable.ends_with("_PORT") || variable.find("_PORT_") != variable.npos;
}

}  // namespace

std::string variable_name(std::string_view key) {
  std::string name(kPrefix);
  for (const char c : key) name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string property_of_variable(std::string_view variable) {
  if (!variable.starts_with(kKafkaPrefix) || variable.size() == kKafkaPrefix.size() || set_by_kubernetes(variable))
    return {};
  std::string name;
  for (const char c : variable.substr(kKafkaPrefix.size())) {
    name += c == '_' ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

std::vector<Warning> unknown_variables(const Sources& sources) {
  std::vector<std::string> known;
  for (const KeySpec& spec : key_table()) {
    if (spec.name != "kafka" && spec.name.find("[]") == spec.name.npos) known.push_back(variable_name(spec.name));
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  std::vector<Warning> warnings;
  for (const auto& [variable, value] : sources.environment) {
    const bool section = std::ranges::any_of(children_of(""), [&](std::string_view child) {
      return variable == variable_name(child) || variable.starts_with(variable_name(child) + "_");
    });
    if (!section || variable.starts_with(kKafkaPrefix) || set_by_kubernetes(variable)) continue;
    if (std::ranges::find(names, variable) != names.end()) continue;
    const std::string near = nearest(variable, names);
    warnings.push_back(
        {.origin = {.kind = Origin::Kind::kEnvironment, .variable = variable},
         .key = variable,
         .text = "names no key and is ignored" + (near.empty() ? "" : fmt::format("; did you mean {}?", near))});
  }
  return warnings;
}

}  // namespace spillway::config
