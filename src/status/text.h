// Status for people, at any hour: the cause first, then what needs doing, then the figures.
#pragma once

#include <string>

#include "status/status.h"

namespace spillway::status {

enum class Colour : bool { kNone, kTerminal };

std::string to_text(const Status& status, Colour colour);

// The lines about the governor alone: law, override, signals.
std::string governor_text(const Status& status, Colour colour);

}  // namespace spillway::status
