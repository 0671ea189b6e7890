#include "sim/result_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace spillway::sim {

namespace {

using nlohmann::ordered_json;

double rounded(double value, double unit) { return std::round(value / unit) * unit; }

ordered_json seconds(const std::optional<double>& value) {
  return value ? ordered_json(rounded(*value, 0.001)) : ordered_json(nullptr);
}

ordered_json milliseconds(const std::optional<double>& s) {
  return s ? ordered_json(rounded(*s * 1000, 0.1)) : ordered_json(nullptr);
}

ordered_json json_of(const RunResult& r) {
  return {{"scenario", r.scenario},
          {"governor", r.law},
          {"seed", r.seed},
          {"clear_seconds", seconds(r.clear_s)},
          {"ideal_seconds", seconds(r.ideal_s)},
          {"clear_over_ideal", r.ratio() ? ordered_json(rounded(*r.ratio(), 1e-4)) : ordered_json(nullptr)},
          {"seconds_over_ceiling", r.seconds_over},
          {"oracle_seconds_over_ceiling",
           r.oracle_seconds_over ? ordered_json(*r.oracle_seconds_over) : ordered_json(nullptr)},
          {"longest_hold_s", rounded(r.longest_hold_s, 0.001)},
          {"worst_p99_ms", milliseconds(r.worst_p99_s)},
          {"live_p99_ms", milliseconds(r.live_p99_s)},
          {"live_p99_alone_ms", milliseconds(r.live_p99_alone_s)},
          {"attempts_per_event", rounded(r.attempts_per_event, 1e-4)},
          {"recovered", r.recovered},
          {"wall_seconds", rounded(r.wall_s, 0.001)},
          {"events", r.events},
          {"left", r.left},
          {"turns_per_minute", rounded(r.turns_per_minute, 0.01)},
          {"reconverge_down_s", seconds(r.reconverge_down_s)},
          {"reconverge_up_s", seconds(r.reconverge_up_s)},
          {"max_blind_rise", rounded(r.max_blind_rise, 0.001)}};
}

std::string ratio_text(const Summary& s) {
  if (!s.ratio) return "never";
  std::string text = fmt::format("{:.3f} ({:.3f})", s.ratio->median, s.ratio->worst);
  if (s.recovered < s.seeds) text += fmt::format(", {} of {}", s.recovered, s.seeds);
  return text;
}

std::string over_text(const Summary& s) {
  return fmt::format("{:.0f} ({:.0f})", s.seconds_over.median, s.seconds_over.worst);
}

std::vector<std::string> laws_of(std::span<const Summary> summaries) {
  std::vector<std::string> laws;
  for (const Summary& s : summaries) {
    if (std::find(laws.begin(), laws.end(), s.law) == laws.end()) laws.push_back(s.law);
  }
  return laws;
}

}  // namespace

std::string to_json(std::span<const RunResult> results) {
  ordered_json runs = ordered_json::array();
  for (const RunResult& r : results) runs.push_back(json_of(r));
  return ordered_json{{"version", 1}, {"runs", runs}}.dump(2);
}

std::string to_table(std::span<const Summary> summaries) {
  std::string table =
      fmt::format("{:<12} {:<10} {:>5} {:>24} {:>14} {:>8} {:>10} {:>10} {:>9}\n", "scenario", "governor", "seeds",
                  "clear / ideal (worst)", "s over ceiling", "oracle", "live held", "worst p99", "attempts");
  for (const Summary& s : summaries) {
    table += fmt::format("{:<12} {:<10} {:>5} {:>24} {:>14} {:>8.0f} {:>8.1f} s {:>7.0f} ms {:>9.3f}\n", s.scenario,
                         s.law, s.seeds, ratio_text(s), over_text(s), s.oracle_seconds_over.median,
                         s.longest_hold_s.median, s.worst_p99_s.median * 1000, s.attempts_per_event.median);
  }
  return table;
}

std::string to_markdown(std::span<const Summary> summaries) {
  const std::vector<std::string> laws = laws_of(summaries);
  std::string head = "| scenario |";
  std::string line = "|---|";
  for (const std::string& law : laws) {
    head += fmt::format(" {} clear ÷ ideal | s over | held s |", law);
    line += "---|---|---|";
  }
  std::string rows;
  std::vector<std::string> done;
  for (const Summary& first : summaries) {
    if (std::find(done.begin(), done.end(), first.scenario) != done.end()) continue;
    done.push_back(first.scenario);
    rows += fmt::format("| {} |", first.scenario);
    for (const std::string& law : laws) {
      const auto s = std::find_if(summaries.begin(), summaries.end(), [&](const Summary& other) {
        return other.scenario == first.scenario && other.law == law;
      });
      rows += s == summaries.end()
                  ? " | | |"
                  : fmt::format(" {} | {} | {:.0f} |", ratio_text(*s), over_text(*s), s->longest_hold_s.median);
    }
    rows += '\n';
  }
  return head + '\n' + line + '\n' + rows;
}

}  // namespace spillway::sim
