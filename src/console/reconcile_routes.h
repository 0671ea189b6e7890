// The part of the endpoints where a person resolves what was set aside.
#pragma once

#include "console/desk.h"
#include "http/server.h"

namespace spillway::console {

void add_reconcile_routes(http::Server& server, Desk& desk, bool show_payloads);

}  // namespace spillway::console
