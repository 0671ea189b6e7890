// What single keys cannot show: required ones that are absent, and keys that contradict each other.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/fault.h"

namespace spillway::config {

// The key itself, or a section or entry that it would be in.
bool is_faulty(std::string key, const std::set<std::string>& faulty);

// Only keys in `config.origins` count as given. Nothing is said about a key in `faulty`, whose value could not be read,
// nor about keys that depend on it. `file` is named where nothing more exact is known.
std::vector<Fault> check_consistency(const Config& config, const std::set<std::string>& faulty,
                                     const std::string& file);

// Keys that are accepted but have no effect in this release, and settings that deserve a second thought.
std::vector<Warning> collect_warnings(const Config& config);

}  // namespace spillway::config
