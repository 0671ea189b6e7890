#include "app/simulation_commands.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "app/plan_command.h"
#include "app/simulate_command.h"

namespace spillway::app {
namespace {

void add_simulate(CLI::App& app, int& status) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* simulate = app.add_subcommand("simulate", "The real control code in virtual time; needs no configuration");
  simulate->add_option("scenario", options->scenario, "S1 to S19, one of their variants, all, or a file")->required();
  simulate->add_option("--governor", options->law, "adaptive, aimd, gradient, fixed, unlimited, or oracle")
      ->capture_default_str();
  simulate->add_option("--compare", options->compare, "laws to run beside it")->delimiter(',');
  simulate->add_option("--set", options->assignments, "KEY=VALUE laid over the scenario, such as lanes.hold_live=never")
      ->allow_extra_args(false);
  simulate->add_option("--seed", options->seed, "the first seed")->capture_default_str();
  simulate->add_option("--seeds", options->seeds, "how many seeds")->capture_default_str();
  simulate->add_option("--report", options->report, "write a page with charts to this file");
  simulate->add_flag("--json", options->json, "every run as JSON");
  simulate->add_flag("--markdown", options->markdown, "medians and worst seeds as a table in Markdown");
  simulate->callback([options, &status] {
    options->progress = isatty(STDERR_FILENO) == 1;
    status = run_simulate(*options, std::cout, std::cerr);
  });
}

void add_plan(CLI::App& app, int& status) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* plan = app.add_subcommand("plan", "How long a recovery takes, and what a loss of capacity costs");
  plan->add_option("--backlog", options->backlog, "events that wait")->required();
  plan->add_option("--capacity", options->capacity, "events/s that downstream can do in total")->required();
  plan->add_option("--live", options->live, "events/s of live traffic")->required();
  plan->add_option("--governor", options->laws, "laws to simulate")->delimiter(',')->capture_default_str();
  plan->add_flag("--json", options->json, "as JSON");
  plan->callback([options, &status] { status = run_plan(*options, std::cout, std::cerr); });
}

}  // namespace

void add_simulation_commands(CLI::App& app, int& status) {
  add_simulate(app, status);
  add_plan(app, status);
}

}  // namespace spillway::app
