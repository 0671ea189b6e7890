// Allocations made by this process so far, by any thread.
#pragma once

#include <cstdint>

namespace spillway::resilience {

std::uint64_t allocation_count() noexcept;

}  // namespace spillway::resilience
