#include "app/config_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "app/exit_status.h"
#include "app/load_config.h"
#include "config/print.h"

namespace spillway::app {
namespace {

using nlohmann::ordered_json;

void add_origin(ordered_json& object, const config::Origin& origin) {
  if (origin.kind == config::Origin::Kind::kEnvironment) {
    object["variable"] = origin.variable;
  } else if (origin.kind == config::Origin::Kind::kFile) {
    object["file"] = origin.place.file;
    if (origin.place.line != 0) {
      object["line"] = origin.place.line;
      object["column"] = origin.place.column;
    }
  }
}

ordered_json to_json(const config::Fault& fault) {
  ordered_json object{{"kind", config::to_string(fault.kind)}};
  add_origin(object, fault.origin);
  object["key"] = fault.key;
  object["problem"] = fault.problem;
  object["value"] = fault.value;
  object["expected"] = fault.expected;
  object["nearest"] = fault.nearest;
  object["remedy"] = fault.remedy;
  object["message"] = config::to_string(fault);
  return object;
}

ordered_json to_json(const config::Warning& warning) {
  ordered_json object;
  add_origin(object, warning.origin);
  object["key"] = warning.key;
  object["message"] = config::to_string(warning);
  return object;
}

void write_report(std::ostream& out, const config::LoadResult& result) {
  ordered_json report{{"version", 1}, {"valid", result.has_value()}};
  report["faults"] = ordered_json::array();
  report["warnings"] = ordered_json::array();
  if (result) {
    for (const auto& warning : result->warnings) report["warnings"].push_back(to_json(warning));
  } else {
    for (const auto& fault : result.error()) report["faults"].push_back(to_json(fault));
  }
  // A path or a variable may hold any bytes.
  out << report.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

void list_warnings(std::ostream& err, const std::vector<config::Warning>& warnings) {
  for (const auto& warning : warnings) err << "warning: " << config::to_string(warning) << '\n';
}

int list_faults(std::ostream& err, const std::vector<config::Fault>& faults) {
  for (const auto& fault : faults) err << config::to_string(fault) << '\n';
  err << fmt::format("{} {} in the configuration\n", faults.size(), faults.size() == 1 ? "fault" : "faults");
  return kExitWrongUsage;
}

}  // namespace

int config_check(const ConfigOptions& options, const config::Sources& sources, std::ostream& out, std::ostream& err) {
  const auto result = load_config(options.path, sources);
  if (options.json) {
    write_report(out, result);
    return result ? kExitDone : kExitWrongUsage;
  }
  if (!result) return list_faults(err, result.error());
  list_warnings(err, result->warnings);
  out << options.path << " is valid\n";
  return kExitDone;
}

int config_print(const ConfigOptions& options, const config::Sources& sources, std::ostream& out, std::ostream& err) {
  const auto result = load_config(options.path, sources);
  if (!result && options.json) {
    write_report(out, result);
    return kExitWrongUsage;
  }
  if (!result) return list_faults(err, result.error());
  list_warnings(err, result->warnings);
  out << config::print(result->config);
  return kExitDone;
}

int config_reference(const ReferenceOptions& options, std::ostream& out) {
  using config::ReferenceFormat;
  out << config::reference(options.markdown ? ReferenceFormat::kMarkdown : ReferenceFormat::kText);
  return kExitDone;
}

}  // namespace spillway::app
