#include "app/plan_command.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "app/exit_status.h"
#include "sim/plan.h"
#include "sim/runner.h"
#include "status/words.h"

namespace spillway::app {
namespace {

using nlohmann::ordered_json;

std::string duration(const std::optional<double>& s) {
  if (!s) return "never at this rate, it grows";
  const auto whole = std::llround(*s);
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 2 * 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

ordered_json seconds(const std::optional<double>& s) { return s ? ordered_json(*s) : ordered_json(nullptr); }

// Whether any figure was not given but asked for.
bool asked(const PlanOptions& o) {
  return o.backlog.origin != PlanFigure().origin || o.capacity.origin != PlanFigure().origin ||
         o.live.origin != PlanFigure().origin;
}

void print(const PlanOptions& o, const sim::Plan& plan, const std::vector<sim::RunResult>& runs, std::ostream& out) {
  if (asked(o)) {
    out << fmt::format("backlog {} ({}), capacity {} ({}), live {} ({})\n",
                       status::counted(std::llround(o.backlog.value), "event"), o.backlog.origin,
                       status::rate_words(o.capacity.value), o.capacity.origin, status::rate_words(o.live.value),
                       o.live.origin);
  }
  out << fmt::format("{:.0f} events / ({:.0f} - {:.0f})/s: {}\n", o.backlog.value, o.capacity.value, o.live.value,
                     duration(plan.clear_s));
  out << fmt::format("with 30 % less capacity throughout: {}\n", duration(plan.clear_dropped_s));
  if (plan.clear_short_drop_s) {
    out << fmt::format("with 30 % less for the first five minutes: {}\n", duration(plan.clear_short_drop_s));
  }
  for (const sim::RunResult& run : runs) {
    out << fmt::format("simulated with {:<9} {}, {:.0f} s over the ceiling of {:.0f} ms\n", run.law + ":",
                       run.clear_s ? duration(run.clear_s) : "not within four times the ideal", run.seconds_over,
                       o.latency_ceiling_s * 1000);
  }
}

void print_json(const PlanOptions& o, const sim::Plan& plan, const std::vector<sim::RunResult>& runs,
                std::ostream& out) {
  ordered_json simulated = ordered_json::array();
  for (const sim::RunResult& run : runs) {
    simulated.push_back(
        {{"governor", run.law}, {"clear_seconds", seconds(run.clear_s)}, {"seconds_over_ceiling", run.seconds_over}});
  }
  out << ordered_json{{"version", 1},
                      {"backlog", o.backlog.value},
                      {"capacity", o.capacity.value},
                      {"live", o.live.value},
                      {"origins",
                       {{"backlog", o.backlog.origin}, {"capacity", o.capacity.origin}, {"live", o.live.origin}}},
                      {"surplus", plan.surplus},
                      {"clear_seconds", seconds(plan.clear_s)},
                      {"clear_seconds_30_percent_less", seconds(plan.clear_dropped_s)},
                      {"clear_seconds_30_percent_less_5_min", seconds(plan.clear_short_drop_s)},
                      {"simulated", simulated}}
             .dump(2)
      << '\n';
}

bool positive(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

int run_plan(const PlanOptions& o, std::ostream& out, std::ostream& err) {
  const bool nothing_waits = asked(o) && o.backlog.value == 0;
  if ((!positive(o.backlog.value) && !nothing_waits) || !positive(o.capacity.value) || !std::isfinite(o.live.value) ||
      o.live.value < 0 || !positive(o.latency_ceiling_s)) {
    err << "plan needs a backlog and a capacity above 0 and live traffic of 0 or more: "
           "--backlog 1000000 --capacity 2000 --live 1200.\n";
    return kExitWrongUsage;
  }
  const sim::PlanFigures figures{o.backlog.value, o.capacity.value, o.live.value};
  const sim::Plan plan = sim::make_plan(figures);
  std::vector<sim::RunResult> runs;
  if (plan.clear_s && !nothing_waits && !o.laws.empty()) {
    sim::Batch batch;
    batch.scenarios = {sim::scenario_of(figures, o.latency_ceiling_s)};
    batch.laws = o.laws;
    batch.seed = o.seed;
    auto simulated = sim::run_batch(batch, [](std::size_t, std::size_t) {});
    if (!simulated) {
      err << simulated.error().message << '\n';
      return kExitWrongUsage;
    }
    runs = std::move(*simulated);
  }
  if (o.json) {
    print_json(o, plan, runs, out);
  } else {
    print(o, plan, runs, out);
  }
  return plan.clear_s ? kExitDone : kExitBadAnswer;
}

}  // namespace spillway::app
