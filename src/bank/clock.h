// The wall clock of the bank: what it does happens when it happens.
#pragma once

#include "base/time.h"

namespace spillway::bank {

inline base::Instant now() { return base::Instant(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace spillway::bank
