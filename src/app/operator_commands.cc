#include "app/operator_commands.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "app/explain_command.h"
#include "app/governor_command.h"
#include "app/holder_name.h"
#include "app/pause_command.h"
#include "app/reconcile_command.h"
#include "app/status_command.h"
#include "app/triage_command.h"

namespace spillway::app {
namespace {

bool colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

struct Adder {
  CLI::App& app;
  const std::function<void(CLI::App*)>& take_config;
  WithStore with_store;
  int& status;

  CLI::App* command(CLI::App& parent, const std::string& name, const std::string& description) const {
    CLI::App* added = parent.add_subcommand(name, description);
    take_config(added);
    return added;
  }
};

void add_status(const Adder& add) {
  auto given = std::make_shared<StatusOptions>();
  CLI::App* command = add.command(add.app, "status", "The signals that matter: the store's, and the relay's own");
  command->add_flag("--json", given->json, "as JSON");
  command->add_flag("--watch", given->watch, "again every two seconds");
  command->add_flag("--check", given->check, "exit 3 when something needs a person");
  command->callback([=, with_store = add.with_store, status = &add.status] {
    *status = with_store([&](const config::Config& config, ports::OutboxStore& store) {
      StatusOptions options{.inquiry = inquiry_of(config)};
      options.json = given->json;
      options.watch = given->watch;
      options.check = given->check;
      options.colour = colour_wanted() && !given->json;
      return run_status(options, store, std::cout, std::cerr);
    });
  });
}

void add_triage(const Adder& add) {
  auto given = std::make_shared<TriageOptions>();
  CLI::App* command =
      add.command(add.app, "triage", "What the rules would do with all that waits now; changes nothing");
  command->add_flag("--json", given->json, "as JSON");
  command->add_option("--sample", given->sample, "the ids of the first so many events of each line")
      ->check(CLI::Range(0, 1000));
  command->callback([=, with_store = add.with_store, status = &add.status] {
    *status = with_store([&](const config::Config& config, ports::OutboxStore& store) {
      given->progress = isatty(STDERR_FILENO) == 1;
      return run_triage(*given, config, store, std::cout, std::cerr);
    });
  });
}

void add_pause(const Adder& add, bool pause) {
  auto given = std::make_shared<PauseOptions>();
  CLI::App* command = pause ? add.command(add.app, "pause", "Hold everything, or the backlog alone, until `resume`")
                            : add.command(add.app, "resume", "End a pause");
  command->add_option("--lane", given->lane, "all or backlog")
      ->check(CLI::IsMember({"all", "backlog"}))
      ->capture_default_str();
  command->add_option("--reason", given->reason, "kept, and shown in every status");
  command->add_flag("--json", given->json, "as JSON");
  command->callback([=, with_store = add.with_store, status = &add.status] {
    *status = with_store([&](const config::Config&, ports::OutboxStore& store) {
      given->who = person_name();
      return (pause ? run_pause : run_resume)(*given, store, std::cout, std::cerr);
    });
  });
}

void add_governor_show(const Adder& add, CLI::App& governor) {
  auto given = std::make_shared<GovernorShowOptions>();
  CLI::App* command = add.command(governor, "show", "Law, override and signals as they are now");
  command->add_flag("--json", given->json, "as JSON");
  command->callback([=, with_store = add.with_store, status = &add.status] {
    *status = with_store([&](const config::Config& config, ports::OutboxStore& store) {
      given->inquiry = inquiry_of(config);
      given->colour = colour_wanted();
      return run_governor_show(*given, store, std::cout, std::cerr);
    });
  });
}

void add_governor_limit(const Adder& add, CLI::App& governor, bool hold) {
  auto given = std::make_shared<GovernorLimitOptions>();
  CLI::App* command = hold ? add.command(governor, "hold", "Nothing above what is sent now, for a while")
                           : add.command(governor, "set", "At most so much, for a while; live itself is never held");
  if (!hold) command->add_option("--max", given->max, "events/s, live and backlog together")->required();
  command->add_option("--for", given->lasts, "until it ends by itself, 24h at most")->capture_default_str();
  command->add_option("--reason", given->reason, "kept, and shown in every status")->required();
  command->add_flag("--json", given->json, "as JSON");
  command->callback([=, with_store = add.with_store, status = &add.status] {
    *status = with_store([&](const config::Config&, ports::OutboxStore& store) {
      given->who = person_name();
      return run_governor_limit(*given, store, std::cout, std::cerr);
    });
  });
}

void add_governor_clear(const Adder& add, CLI::App& governor) {
  auto given = std::make_shared<GovernorClearOptions>();
  CLI::App* command = add.command(governor, "clear", "End an override before its time");
  command->add_option("--reason", given->reason, "kept");
  command->add_flag("--json", given->json, "as JSON");
  command->callback([=, with_store = add.with_store, status = &add.status] {
    *status = with_store([&](const config::Config&, ports::OutboxStore& store) {
      given->who = person_name();
      return run_governor_clear(*given, store, std::cout, std::cerr);
    });
  });
}

void add_governor(const Adder& add) {
  CLI::App* governor =
      add.app.add_subcommand("governor", "Limit the rate for a while, in all instances; works without a relay as well");
  governor->require_subcommand(1);
  add_governor_show(add, *governor);
  add_governor_limit(add, *governor, true);
  add_governor_limit(add, *governor, false);
  add_governor_clear(add, *governor);
}

void take_selection(CLI::App* command, SelectionOptions& selection) {
  command->add_option("--rule", selection.rule, "events that this rule of triage set aside");
  command->add_option("--type", selection.type, "events of this type");
  command->add_option("--before", selection.before, "set aside before: an age (2h) or a time (2026-11-30T14:00:00Z)");
  command->add_option("--up-to", selection.up_to, "nothing later than this seq, as a preview printed it");
}

void add_reconcile_list(const Adder& add, CLI::App& reconcile) {
  auto given = std::make_shared<ReconcileListOptions>();
  CLI::App* command = add.command(reconcile, "list", "The events that wait for a person");
  take_selection(command, given->selection);
  command->add_option("--limit", given->limit, "so many at most")->capture_default_str();
  command->add_flag("--json", given->json, "as JSON");
  command->callback([=, with_store = add.with_store, status = &add.status] {
    *status = with_store([&](const config::Config&, ports::OutboxStore& store) {
      return run_reconcile_list(*given, store, std::cout, std::cerr);
    });
  });
}

void add_show(const Adder& add, CLI::App& parent, const std::string& name, const std::string& description,
              decltype(&run_explain) run) {
  auto given = std::make_shared<ReconcileShowOptions>();
  CLI::App* command = add.command(parent, name, description);
  command->add_option("id", given->id, "the event")->required();
  command->add_flag("--payload", given->payload, "show the payload as well");
  command->add_flag("--json", given->json, "as JSON");
  command->callback([=, with_store = add.with_store, status = &add.status] {
    *status = with_store(
        [&](const config::Config&, ports::OutboxStore& store) { return run(*given, store, std::cout, std::cerr); });
  });
}

void add_explain(const Adder& add) {
  auto given = std::make_shared<ReconcileShowOptions>();
  CLI::App* command = add.command(add.app, "explain",
                                  "The governor's last decisions with their causes; with an event: why it went "
                                  "where it went");
  command->add_option("id", given->id, "an event: what became of it, by which rule or whom, and why");
  command->add_flag("--payload", given->payload, "show the event's payload as well");
  command->add_flag("--json", given->json, "as JSON");
  command->callback([=, with_store = add.with_store, status = &add.status] {
    *status = with_store([&](const config::Config& config, ports::OutboxStore& store) {
      if (!given->id.empty()) return run_explain(*given, store, std::cout, std::cerr);
      const ExplainOptions options{.inquiry = inquiry_of(config), .json = given->json};
      return run_explain_decisions(options, store, std::cout, std::cerr);
    });
  });
}

void add_act(const Adder& add, CLI::App& reconcile, model::Verdict verdict, const std::string& description) {
  auto given = std::make_shared<ReconcileActOptions>();
  CLI::App* command = add.command(reconcile, model::to_string(verdict), description);
  command->add_option("id", given->selection.ids, "the events; or a selection:");
  take_selection(command, given->selection);
  command->add_flag("--all", given->selection.all, "everything that is open");
  command->add_option("--reason", given->reason, "kept");
  command->add_option("--confirm", given->confirm, "how many events the selection means, for scripts");
  command->add_flag("--json", given->json, "as JSON");
  command->callback([=, with_store = add.with_store, status = &add.status] {
    *status = with_store([&](const config::Config&, ports::OutboxStore& store) {
      given->who = person_name();
      if (isatty(STDIN_FILENO) == 1) given->answers = &std::cin;
      return run_reconcile_act(*given, verdict, store, std::cout, std::cerr);
    });
  });
}

}  // namespace

void add_operator_commands(CLI::App& app, const std::function<void(CLI::App*)>& take_config, WithStore with_store,
                           int& status) {
  const Adder add{app, take_config, std::move(with_store), status};
  add_status(add);
  add_triage(add);
  add_pause(add, true);
  add_pause(add, false);
  add_governor(add);
  add_explain(add);
  CLI::App* reconcile = app.add_subcommand("reconcile", "Resolve what was set aside; works without a relay as well");
  reconcile->require_subcommand(1);
  add_reconcile_list(add, *reconcile);
  add_show(add, *reconcile, "show", "One event with its headers", run_reconcile_show);
  add_act(add, *reconcile, model::Verdict::kPublish,
          "Send events after all, behind later ones of their keys that have gone already");
  add_act(add, *reconcile, model::Verdict::kDiscard, "Never send these events");
}

}  // namespace spillway::app
