#include "signals/observations.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "config/nearest.h"

namespace spillway::signals {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> kFields = {"name", "latency_ms", "ok", "count"};
constexpr double kLongestMs = 86'400'000;
constexpr double kMostAtOnce = 1'000'000;

std::string unknown_field(const std::string& field) {
  const std::string near = config::nearest(field, kFields);
  return fmt::format("has an unknown field \"{}\"{}", field.substr(0, 40),
                     near.empty() ? ", expected name, latency_ms, ok, count" : fmt::format(", did you mean {}?", near));
}

// What is wrong with it; empty: nothing.
std::string read_entry(const Json& entry, Observation& into) {
  if (!entry.is_object()) return "is no object";
  for (const auto& [field, value] : entry.items()) {
    if (field == "name") {
      if (!value.is_string()) return "has a name that is no text";
      into.name = value.get<std::string>();
    } else if (field == "latency_ms") {
      const double ms = value.is_number() ? value.get<double>() : -1;
      if (!(ms >= 0 && ms <= kLongestMs)) return fmt::format("has no valid latency_ms, expected 0 to {}", kLongestMs);
      into.latency_s = ms / 1000;
    } else if (field == "ok") {
      if (!value.is_boolean()) return "has an ok that is neither true nor false";
      into.ok = value.get<bool>();
    } else if (field == "count") {
      const double count = value.is_number_integer() ? value.get<double>() : 0;
      if (!(count >= 1 && count <= kMostAtOnce)) {
        return fmt::format("has no valid count, expected a whole number from 1 to {}", kMostAtOnce);
      }
      into.count = count;
    } else {
      return unknown_field(field);
    }
  }
  if (!entry.contains("name")) return "has no name";
  if (!entry.contains("latency_ms")) return "has no latency_ms";
  return {};
}

}  // namespace

base::Result<std::vector<Observation>> read_observations(std::string_view body) {
  const auto refuse = [](std::string why) { return base::fail(base::ErrorClass::kRejected, std::move(why)); };
  Json entries = Json::parse(body, nullptr, false);
  if (entries.is_discarded()) return refuse("the body is no JSON");
  if (entries.is_object()) entries = Json::array({entries});
  if (!entries.is_array())
    return refuse("expected a list like [{\"name\": \"bank\", \"latency_ms\": 151.2, \"ok\": true}]");
  std::vector<Observation> all;
  for (const Json& entry : entries) {
    Observation one;
    const std::string fault = read_entry(entry, one);
    if (!fault.empty()) return refuse(fmt::format("observation {} {}", all.size() + 1, fault));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace spillway::signals
