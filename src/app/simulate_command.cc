#include "app/simulate_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <ostream>

#include "app/exit_status.h"
#include "sim/report_html.h"
#include "sim/result_text.h"
#include "sim/runner.h"
#include "sim/scenario_yaml.h"

namespace spillway::app {
namespace {

base::Result<std::vector<sim::Scenario>> scenarios_of(const SimulateOptions& options) {
  if (options.scenario != "all") return sim::find_scenarios(options.scenario, options.assignments);
  std::vector<sim::Scenario> all;
  for (int i = 1; i <= 19; ++i) {
    auto some = sim::find_scenarios(fmt::format("S{}", i), options.assignments);
    if (!some) return some;
    all.insert(all.end(), some->begin(), some->end());
  }
  return all;
}

void print_table(const std::vector<sim::RunResult>& results, const std::vector<sim::Scenario>& scenarios,
                 std::ostream& out) {
  const auto summaries = sim::summarise(results);
  out << sim::to_table(summaries);
  for (const sim::Summary& s : summaries) {
    if (s.law != "adaptive") continue;
    for (const sim::Scenario& scenario : scenarios) {
      if (scenario.name != s.scenario) continue;
      for (const std::string& sentence : sim::missed(s, scenario.target)) {
        out << fmt::format("{}: target missed, {}\n", s.scenario, sentence);
      }
    }
  }
}

int write_report(const std::string& path, const std::vector<sim::RunResult>& results, std::ostream& err) {
  std::ofstream file(path);
  file << sim::to_html(results);
  file.flush();
  if (file) return kExitDone;
  err << fmt::format("The report could not be written to {}; is the folder there, and writable?\n", path);
  return kExitFailed;
}

}  // namespace

int run_simulate(const SimulateOptions& options, std::ostream& out, std::ostream& err) {
  auto scenarios = scenarios_of(options);
  if (!scenarios) {
    err << scenarios.error().message << '\n';
    return kExitWrongUsage;
  }
  if (options.seeds < 1) {
    err << "--seeds must be at least 1.\n";
    return kExitWrongUsage;
  }
  sim::Batch batch;
  batch.scenarios = *scenarios;
  batch.laws = {options.law};
  for (const std::string& law : options.compare) {
    if (std::find(batch.laws.begin(), batch.laws.end(), law) == batch.laws.end()) batch.laws.push_back(law);
  }
  batch.seed = options.seed;
  batch.seeds = options.seeds;
  batch.keep_seconds = !options.report.empty();
  const auto results = sim::run_batch(batch, [&](std::size_t done, std::size_t all) {
    if (options.progress) err << fmt::format("\r{} of {} runs", done, all) << (done == all ? "\n" : "") << std::flush;
  });
  if (!results) {
    err << results.error().message << '\n';
    return kExitWrongUsage;
  }
  if (options.json) {
    out << sim::to_json(*results) << '\n';
  } else if (options.markdown) {
    out << sim::to_markdown(sim::summarise(*results));
  } else {
    print_table(*results, *scenarios, out);
  }
  return options.report.empty() ? kExitDone : write_report(options.report, *results, err);
}

}  // namespace spillway::app
