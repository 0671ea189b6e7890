// `spillway config check | print | reference`. Nothing is opened but the configuration and the files it refers to.
#pragma once

#include <iosfwd>
#include <string>

#include "config/load.h"

namespace spillway::app {

struct ConfigOptions {
  std::string path;   // --config
  bool json = false;  // --json
};

struct ReferenceOptions {
  bool markdown = false;  // --markdown
};

// 0 where the configuration is valid, 2 where it is not. All faults and warnings are listed: one a line on `err`, or
// with `json` one object on `out`: {"version": 1, "valid", "faults": […], "warnings": […]}.
int config_check(const ConfigOptions& options, const config::Sources& sources, std::ostream& out, std::ostream& err);

// The effective configuration with its origins on `out`, secrets hidden; faults as `config_check` lists them, and 2.
// `json` concerns the faults: the configuration itself is YAML.
int config_print(const ConfigOptions& options, const config::Sources& sources, std::ostream& out, std::ostream& err);

// Every key on `out`; always 0.
int config_reference(const ReferenceOptions& options, std::ostream& out);

}  // namespace spillway::app
