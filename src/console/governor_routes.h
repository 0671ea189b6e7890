// The part of the endpoints where a person limits the governor for a while.
#pragma once

#include "console/desk.h"
#include "http/server.h"

namespace spillway::console {

void add_governor_routes(http::Server& server, Desk& desk);

}  // namespace spillway::console
