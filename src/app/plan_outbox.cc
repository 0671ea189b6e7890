#include "app/plan_outbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "app/exit_status.h"

namespace spillway::app {
namespace {

constexpr const char* kFromStore = "from the store";
constexpr const char* kFromRelay = "measured by the relay";

std::string no_relay(const status::Status& status) {
  if (status.relay) return "the relay has not measured it";
  if (status.subject.relay_asked.empty()) return "no relay was asked, since http.listen is not set";
  return fmt::format("no relay answers at {}", status.subject.relay_asked);
}

using Figure = base::Result<PlanFigure>;

Figure measured(const std::optional<double>& value, const char* what, const char* option,
                const status::Status& status) {
  if (value) return PlanFigure(*value, kFromRelay);
  return base::fail(base::ErrorClass::kMisconfigured,
                    fmt::format("{} is not known: {}; give {} N", what, no_relay(status), option));
}

Figure backlog_of(const PlanWish& wish, const status::Status& status) {
  if (wish.backlog) return PlanFigure(*wish.backlog);
  if (status.backlog.events) return PlanFigure(static_cast<double>(*status.backlog.events), kFromStore);
  return base::fail(
      base::ErrorClass::kUnavailable,
      fmt::format("the backlog is not known, the store does not answer: {}; give --backlog N", status.store.error));
}

// What others take of it is not for the backlog.
Figure capacity_of(const PlanWish& wish, const status::Status& status) {
  if (wish.capacity) return PlanFigure(*wish.capacity);
  std::optional<double> ours = status.governor.capacity;
  if (ours) *ours -= status.governor.others.value_or(0);
  return measured(ours, "downstream's capacity", "--capacity", status);
}

// What arrives while a backlog waits is live traffic.
Figure live_of(const PlanWish& wish, const status::Status& status) {
  if (wish.live) return PlanFigure(*wish.live);
  const auto& lane = status.governor.live_demand ? status.governor.live_demand : status.rates.live;
  return measured(lane ? lane : status.rates.arrival, "the live rate", "--live", status);
}

}  // namespace

int run_plan_outbox(const PlanWish& wish, const Inquiry& inquiry, PlanOptions options, ports::OutboxStore& store,
                    std::ostream& out, std::ostream& err) {
  const auto session = store.open_operator();
  const status::Status status = inquire(inquiry, store, *session).status;
  const Figure backlog = backlog_of(wish, status);
  if (backlog && backlog->value == 0 && !wish.backlog && !options.json) {
    out << "nothing waits: there is nothing to plan\n";
    return kExitDone;
  }
  const Figure capacity = capacity_of(wish, status);
  const Figure live = live_of(wish, status);
  for (const Figure* figure : {&backlog, &capacity, &live}) {
    if (*figure) continue;
    err << fmt::format("plan: {}\n", figure->error().message);
    return exit_status_of(figure->error());
  }
  options.backlog = *backlog;
  options.capacity = *capacity;
  options.live = *live;
  return run_plan(options, out, err);
}

std::optional<double> tightest_ceiling_s(const config::Config& config) {
  std::optional<double> tightest;
  for (const config::SignalConfig& signal : config.signals) {
    if (!signal.latency_ceiling) continue;
    const double ceiling = base::seconds(*signal.latency_ceiling);
    tightest = std::min(tightest.value_or(ceiling), ceiling);
  }
  return tightest;
}

}  // namespace spillway::app
