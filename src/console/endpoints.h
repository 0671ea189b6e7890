// What the daemon serves over HTTP.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "console/desk.h"
#include "http/server.h"
#include "status/status.h"
#include "telemetry/metrics.h"

namespace spillway::console {

// A broker or a downstream that is away belongs to `notes`: that is the work as usual, and a restart would not help.
struct Readiness {
  std::vector<std::string> missing{};  // what keeps the process from being ready
  std::vector<std::string> notes{};    // shown with ?verbose
};

// All are called on the loop thread and answer at once.
struct Exhibits {
  std::function<status::Status()> status;
  std::function<std::string(telemetry::Exposition)> metrics;
  std::function<Readiness()> readiness;
  std::function<double()> turn_age_s;  // since the relay's loop last came round
  bool show_payloads = false;
};

// GET /  /style.css  /healthz  /readyz  /metrics  /api/status  /api/reconcile  /api/reconcile/show?id=
// POST /api/pause  /api/resume  {"lane": "all" | "backlog", "reason", "who"}
// POST /api/governor  {"action": "hold" | "set" | "clear", "max", "for", "reason", "who"}
// POST /api/reconcile/publish  /api/reconcile/discard
//   {"ids": […]} or a selection {"rule", "type", "before", "up_to_seq", "confirm": N}, and "reason", "who"
// A selection whose count is not the one confirmed changes nothing and is answered with 409 and its preview.
// The desk must outlive the server's loop.
void add_endpoints(http::Server& server, Desk& desk, Exhibits exhibits);

}  // namespace spillway::console
