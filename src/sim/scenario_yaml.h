// Scenarios as YAML text. A file describes one scenario or, with `variants`, several: each variant is the rest of the
// file with its own keys on top, and is named NAME-VARIANT.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/scenario.h"

namespace spillway::sim {

// `source` names the text in messages, which carry line and column. Misconfigured on any fault; unknown keys are
// faults.
base::Result<std::vector<Scenario>> parse_scenarios(const std::string& text, const std::string& source);

// The ones that come with the program, S1 to S19, all variants, in order.
const std::vector<Scenario>& builtin_scenarios();

// `name`: a built-in scenario, one with variants (all of them), one variant, or a file. `assignments` are KEY=VALUE as
// in a scenario file or the configuration, laid over each.
base::Result<std::vector<Scenario>> find_scenarios(const std::string& name,
                                                   const std::vector<std::string>& assignments);

}  // namespace spillway::sim
