// When the clock of a test begins.
#pragma once

#include "base/time.h"

namespace spillway::relay {

inline constexpr base::Instant kStart{std::chrono::seconds(1000)};

}  // namespace spillway::relay
