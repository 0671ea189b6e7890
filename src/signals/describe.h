// From the configuration of a signal to the governor's description of it.
#pragma once

#include "config/config.h"
#include "governor/signal.h"

namespace spillway::signals {

// `dead_time` is at least 1 s: below that nothing can be seen, as a window lasts a second. `auto` is 1 s and `every`,
// and for kafka_lag the 5 s in which clients commit by default on top: no kind measures it yet, and too long costs
// little where too short makes the law run after its own effects.
// Without an error_ceiling errors steer only where all are errors; a probe keeps 2 %.
governor::SignalSpec describe(const config::SignalConfig& config);

}  // namespace spillway::signals
