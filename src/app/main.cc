// The command line: what each command is called, what it takes, and which function does it.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "app/config_command.h"
#include "app/daemon.h"
#include "app/init_command.h"
#include "app/load_config.h"
#include "app/misspelt.h"
#include "app/open_store.h"
#include "app/operator_commands.h"
#include "app/simulation_commands.h"
#include "app/version.h"
#include "config/load.h"

namespace spillway::app {
namespace {

constexpr int kWrongUsage = 2;

struct Shared {
  std::string config = "spillway.yaml";
};

// Loads the configuration or lists everything that is wrong with it.
template <typename Command>
int with_config(const Shared& shared, Command&& command) {
  auto loaded = load_config(shared.config, config::process_sources());
  if (!loaded) {
    for (const config::Fault& fault : loaded.error()) std::cerr << to_string(fault) << '\n';
    return kWrongUsage;
  }
  for (const config::Warning& warning : loaded->warnings) std::cerr << to_string(warning) << '\n';
  return command(loaded->config);
}

void take_config(CLI::App* command, Shared& shared) {
  command->add_option("-c,--config", shared.config, "the configuration")->capture_default_str();
}

int with_store(const Shared& shared, const OnStore& command) {
  return with_config(shared, [&](const config::Config& config) {
    // SQLite would make an empty file, and a daemon waits for one: a person has only forgotten `init`, or mistyped it.
    if (const std::string path(config.outbox.sqlite_path()); !path.empty() && !std::filesystem::exists(path)) {
      std::cerr << path << " does not exist: run `spillway init`, or correct outbox.store\n";
      return kWrongUsage;
    }
    auto store = open_store(config);
    if (store) return command(config, **store);
    std::cerr << store.error().message << '\n';
    return kWrongUsage;
  });
}

void add_run(CLI::App& app, Shared& shared, int& status) {
  CLI::App* run = app.add_subcommand("run", "Relay until SIGTERM or SIGINT, then finish what is in flight");
  take_config(run, shared);
  run->callback([&] {
    status = with_config(shared, [&](const config::Config& config) { return run_daemon(config, shared.config); });
  });
}

void add_init(CLI::App& app, Shared& shared, InitOptions& options, int& status) {
  CLI::App* init = app.add_subcommand("init", "Create or upgrade the tables; may be run again");
  take_config(init, shared);
  init->add_flag("--print", options.print, "print the SQL instead of running it");
  init->add_option("--payload", options.payload, "type of the payload column, text unless given (PostgreSQL)")
      ->check(CLI::IsMember({"text", "bytea", "json", "jsonb"}));
  init->add_flag("--notify", options.notify, "NOTIFY at every insert; needs outbox.listen (PostgreSQL)");
  init->add_flag("--roles", options.roles, "roles for writers, relay and console; needs CREATEROLE (PostgreSQL)");
  init->add_flag("--partitioned", options.partitioned,
                 "partition the outbox by day, UTC; id is unique within a day only (PostgreSQL)");
  init->add_flag("--repair-restored", options.repair_restored,
                 "make a table usable that was restored from another cluster (PostgreSQL)");
  init->callback([&] {
    status = with_config(shared,
                         [&](const config::Config& config) { return run_init(options, config, std::cout, std::cerr); });
  });
}

void add_config(CLI::App& app, ConfigOptions& options, ReferenceOptions& reference, int& status) {
  CLI::App* config = app.add_subcommand("config", "Check, print or explain the configuration");
  config->require_subcommand(1);
  options.path = "spillway.yaml";
  CLI::App* check = config->add_subcommand("check", "List everything that is wrong");
  CLI::App* print = config->add_subcommand("print", "The effective configuration, each value with its origin");
  for (CLI::App* command : {check, print}) {
    command->add_option("-c,--config", options.path, "the configuration")->capture_default_str();
    command->add_flag("--json", options.json, "faults as JSON");
  }
  CLI::App* explain = config->add_subcommand("reference", "Every key with type, default and unit");
  explain->add_flag("--markdown", reference.markdown, "as Markdown");
  check->callback([&] { status = config_check(options, config::process_sources(), std::cout, std::cerr); });
  print->callback([&] { status = config_print(options, config::process_sources(), std::cout, std::cerr); });
  explain->callback([&] { status = config_reference(reference, std::cout); });
}

void add_version(CLI::App& app, int& status) {
  app.add_subcommand("version", "Versions of Spillway and of the libraries it runs with")->callback([&] {
    status = print_version(std::cout);
  });
}

int run_command_line(int argc, char** argv) {
  CLI::App app(
      "Carries a transactional outbox to Apache Kafka, and lets a backlog out as fast as downstream can bear.");
  app.name("spillway");
  app.require_subcommand(1);
  app.set_version_flag("--version", [] {
    std::ostringstream versions;
    print_version(versions);
    std::string text = versions.str();
    text.pop_back();
    return text;
  });
  app.set_help_all_flag("--help-all", "help of every command");
  app.footer(
      "Exit status: 0 done; 1 it did not work; 2 wrong usage or configuration; 3 it worked and the answer is bad.");

  int status = 0;
  Shared shared;
  InitOptions init;
  ConfigOptions config;
  ReferenceOptions reference;
  add_init(app, shared, init, status);
  add_run(app, shared, status);
  const auto takes_config = [&](CLI::App* command) { take_config(command, shared); };
  const auto on_store = [&](const OnStore& command) { return with_store(shared, command); };
  add_operator_commands(app, takes_config, on_store, status);
  add_config(app, config, reference, status);
  add_simulation_commands(app, takes_config, on_store, status);
  add_version(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and its like
    std::cerr << explain_misuse(app, error) << '\n';
    return kWrongUsage;
  }
  return status;
}

}  // namespace
}  // namespace spillway::app

int main(int argc, char** argv) { return spillway::app::run_command_line(argc, argv); }
