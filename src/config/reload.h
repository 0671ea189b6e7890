// What a re-read configuration may change without a restart.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace spillway::config {

struct Change {
  std::string key;     // `signals` and `triage.rules` change as a whole
  std::string before;  // as `print` shows it; empty for lists
  std::string after;
};

// All or nothing: where `needs_restart` names a key, none of the changes may be applied.
struct ReloadPlan {
  std::vector<Change> changes;             // may be applied in place
  std::vector<std::string> needs_restart;  // keys that differ and are fixed while the process runs

  bool allowed() const { return needs_restart.empty(); }
};

ReloadPlan diff_for_reload(const Config& running, const Config& wanted);

}  // namespace spillway::config
