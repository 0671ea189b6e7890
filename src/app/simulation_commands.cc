#include "app/simulation_commands.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "app/plan_outbox.h"
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

void add_plan(CLI::App& app, const std::function<void(CLI::App*)>& take_config, WithStore with_store, int& status) {
  const auto options = std::make_shared<PlanOptions>();
  const auto wish = std::make_shared<PlanWish>();
  CLI::App* plan = app.add_subcommand("plan",
                                      "How long a recovery takes, and what a loss of capacity costs; figures that are "
                                      "not given are asked of the store and the running relay");
  take_config(plan);
  plan->add_option("--backlog", wish->backlog, "events that wait");
  plan->add_option("--capacity", wish->capacity, "events/s that downstream can do in total");
  plan->add_option("--live", wish->live, "events/s of live traffic");
  plan->add_option("--governor", options->laws, "laws to simulate")->delimiter(',')->capture_default_str();
  plan->add_flag("--json", options->json, "as JSON");
  plan->callback([options, wish, with_store = std::move(with_store), &status] {
    if (wish->complete()) {
      options->backlog = *wish->backlog;
      options->capacity = *wish->capacity;
      options->live = *wish->live;
      status = run_plan(*options, std::cout, std::cerr);
      return;
    }
    status = with_store([&](const config::Config& config, ports::OutboxStore& store) {
      options->latency_ceiling_s = tightest_ceiling_s(config).value_or(options->latency_ceiling_s);
      return run_plan_outbox(*wish, inquiry_of(config), *options, store, std::cout, std::cerr);
    });
  });
}

}  // namespace

void add_simulation_commands(CLI::App& app, const std::function<void(CLI::App*)>& take_config, WithStore with_store,
                             int& status) {
  add_simulate(app, status);
  add_plan(app, take_config, std::move(with_store), status);
}

}  // namespace spillway::app
