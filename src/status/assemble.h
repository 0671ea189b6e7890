// Store first, then the relay's own word: one Status of both.
#pragma once

#include "status/status.h"

namespace spillway::status {

// Rows that have ever arrived, by what is waiting and what has left: feed it to a RateMeter.
std::int64_t arrived_total(const ports::Figures& figures);

Status assemble(const Subject& subject, const StoreFigures& store, const std::optional<LiveFigures>& live);

}  // namespace spillway::status
