#include "app/misspelt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "config/nearest.h"

namespace spillway::app {
namespace {

struct Reached {
  const CLI::App* command;
  std::string name;  // "spillway reconcile"
};

Reached deepest(const CLI::App& app) {
  Reached at{&app, app.get_name()};
  while (true) {
    const auto below = at.command->get_subcommands();
    if (below.empty()) return at;
    at = {below.back(), at.name + " " + below.back()->get_name()};
  }
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(below->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string meant(const std::string& word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string nearest = config::nearest(word, known);
  return nearest.empty() ? ";" : fmt::format("; did you mean {}?", nearest);
}

}  // namespace

std::string explain_misuse(const CLI::App& app, const CLI::Error& error) {
  const auto [command, name] = deepest(app);
  const std::string help = fmt::format("`{} --help` explains", name);
  std::vector<std::string> unknown = command->remaining();
  if (unknown.empty()) unknown = app.remaining(true);
  const std::vector<std::string> commands = commands_of(*command);
  const bool incomplete = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
                          error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
  const auto is_option = [](const std::string& word) { return word.starts_with("-"); };
  // Where a command is expected its name is what matters; options would have belonged to it.
  const auto word =
      commands.empty() ? std::ranges::find_if(unknown, is_option) : std::ranges::find_if_not(unknown, is_option);
  const std::string culprit = word != unknown.end() ? *word : unknown.empty() ? "" : unknown.front();
  if (incomplete && is_option(culprit)) {
    const std::string option = culprit.substr(0, culprit.find('='));
    return fmt::format("{}: {} is not one of its options{} {}", name, option, meant(option, options_of(*command)),
                       help);
  }
  if (incomplete && !culprit.empty()) {
    return fmt::format("{}: \"{}\" is not {}{} {}", name, culprit,
                       commands.empty() ? "expected here" : "one of its commands", meant(culprit, commands), help);
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) && !commands.empty()) {
    return fmt::format("{}: expected a command: {}; {}", name, fmt::join(commands, ", "), help);
  }
  return fmt::format("{}: {}; {}", name, error.what(), help);
}

}  // namespace spillway::app
