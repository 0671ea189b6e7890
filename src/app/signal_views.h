// The signals as a status shows them.
#pragma once

#include <vector>

#include "signals/signal_figures.h"
#include "status/status.h"

namespace spillway::app {

std::vector<status::SignalView> signal_views(const std::vector<signals::SignalFigures>& figures);

}  // namespace spillway::app
