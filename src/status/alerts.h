// What needs a person. `status --check` exits 3 when there is anything here.
//
// Names: store_unreachable, no_owner, relay_frozen, relay_silent, progress_stale, partition_stuck, broker_unreachable,
// backlog_growing, drain_hurts, braking, blind, signal_broken, override_in_force, reading_held, reconcile_waiting,
// paused, figures_stale, key_space_low, key_cache.
#pragma once

#include <vector>

#include "status/status.h"

namespace spillway::status {

// Reads everything of `status` but alerts and cause.
std::vector<Alert> find_alerts(const Status& status);

}  // namespace spillway::status
