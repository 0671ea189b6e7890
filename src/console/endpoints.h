// What the daemon serves over HTTP.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "console/desk.h"
#include "http/server.h"
#include "status/explanation.h"
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
  std::function<status::Explanation()> explanation;
  std::function<std::string(telemetry::Exposition)> metrics;
  std::function<Readiness()> readiness;
  std::function<double()> turn_age_s;  // since the relay's loop last came round
  bool show_payloads = false;
  // Takes pushed observations, as signals::SignalHub::observe does; empty where no signals are configured.
  std::function<base::Result<std::size_t>(std::string_view)> observe{};
};

// GET /  /style.css  /healthz  /readyz  /metrics  /api/status  /api/explain  /api/reconcile  /api/reconcile/show?id=
// POST /api/pause  /api/resume  {"lane": "all" | "backlog", "reason", "who"}
// POST /api/governor  {"action": "hold" | "set" | "clear", "max", "for", "reason", "who"}
// POST /api/observations  [{"name", "latency_ms", "ok", "count"}]  answers {"observed": N}, or 400 with what is wrong
// POST /api/reconcile/publish  /api/reconcile/discard
//   {"ids": […]} or a selection {"rule", "type", "before", "up_to_seq", "confirm": N}, and "reason", "who"
// A selection whose count is not the one confirmed changes nothing and is answered with 409 and its preview.
// The desk must outlive the server's loop.
void add_endpoints(http::Server& server, Desk& desk, Exhibits exhibits);

}  // namespace spillway::console
