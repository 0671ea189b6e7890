#pragma once

#include <cstdint>

namespace spillway::testing {

// A TCP port on 127.0.0.1 that nobody listened on a moment ago. It lies below the kernel's range for outgoing
// connections, so that no client socket can take it between this call and the listen of the service it is meant for.
// Throws std::runtime_error when none is found.
std::uint16_t free_port();

}  // namespace spillway::testing
