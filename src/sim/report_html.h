// A page with charts of the runs that kept their seconds. It needs no network: the chart library is inside.
#pragma once

#include <span>
#include <string>

#include "sim/run_result.h"

namespace spillway::sim {

std::string to_html(std::span<const RunResult> results);

}  // namespace spillway::sim
