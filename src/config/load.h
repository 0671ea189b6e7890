// From YAML and the environment to a checked `Config`, or to every fault there is.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/fault.h"

namespace spillway::config {

// What the outside world holds, as the loader sees it. Tests give their own.
struct Sources {
  std::map<std::string, std::string> environment;
  // The content of a file, or a sentence that says why not ("no such file").
  std::function<base::Result<std::string>(const std::string& path)> read_file;
};

// The environment of this process and the real file system. Reads the environment once; call before threads start.
Sources process_sources();

struct Loaded {
  Config config;
  std::vector<Warning> warnings;
};

using LoadResult = std::expected<Loaded, std::vector<Fault>>;  // the faults are never empty, in order of their place

// Faults that only the rest of the program can find, such as a property that a library does not know; `faulty` are the
// keys that have a fault already, and what is said about those is left out. They are listed among the others.
using FurtherCheck = std::function<std::vector<Fault>(const Config&, const std::set<std::string>& faulty)>;

LoadResult load_file(const std::string& path, const Sources& sources, const FurtherCheck& further = {});

// `name` stands for the file in every message.
LoadResult load_text(std::string_view text, const std::string& name, const Sources& sources,
                     const FurtherCheck& further = {});

}  // namespace spillway::config
