#include "sim/summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace spillway::sim {

namespace {

MedianAndWorst of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return {values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2, values.back()};
}

template <typename Figure>
MedianAndWorst figure(const std::vector<const RunResult*>& runs, Figure of_run) {
  std::vector<double> values;
  for (const RunResult* run : runs) values.push_back(of_run(*run));
  return of(std::move(values));
}

Summary summarise_one(const std::vector<const RunResult*>& runs) {
  Summary s;
  s.scenario = runs.front()->scenario;
  s.law = runs.front()->law;
  s.seeds = static_cast<int>(runs.size());
  std::vector<double> ratios;
  std::vector<double> clear;
  for (const RunResult* run : runs) {
    if (!run->recovered) continue;
    ++s.recovered;
    ratios.push_back(*run->ratio());
    clear.push_back(*run->clear_s);
  }
  if (!ratios.empty()) s.ratio = of(ratios);
  s.run_s = of(clear).median;
  s.seconds_over = figure(runs, [](const RunResult& r) { return r.seconds_over; });
  s.oracle_seconds_over = figure(runs, [](const RunResult& r) { return r.oracle_seconds_over.value_or(0); });
  s.longest_hold_s = figure(runs, [](const RunResult& r) { return r.longest_hold_s; });
  s.worst_p99_s = figure(runs, [](const RunResult& r) { return r.worst_p99_s; });
  s.attempts_per_event = figure(runs, [](const RunResult& r) { return r.attempts_per_event; });
  return s;
}

}  // namespace

std::vector<Summary> summarise(std::span<const RunResult> results) {
  std::vector<Summary> all;
  std::vector<std::pair<std::string, std::string>> seen;
  for (const RunResult& first : results) {
    const std::pair key{first.scenario, first.law};
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    seen.push_back(key);
    std::vector<const RunResult*> runs;
    for (const RunResult& run : results) {
      if (run.scenario == first.scenario && run.law == first.law) runs.push_back(&run);
    }
    all.push_back(summarise_one(runs));
  }
  return all;
}

std::vector<std::string> missed(const Summary& s, const Target& target) {
  std::vector<std::string> sentences;
  if (s.recovered < s.seeds)
    sentences.push_back(fmt::format("{} of {} seeds did not recover", s.seeds - s.recovered, s.seeds));
  if (s.ratio && s.ratio->median > target.clear_over_ideal) {
    sentences.push_back(fmt::format("clear / ideal {:.3f} > {}", s.ratio->median, target.clear_over_ideal));
  }
  const auto bound = [&](double most, const char* what) {
    if (s.seconds_over.median > most) {
      sentences.push_back(fmt::format("{:.0f} s over the ceiling > {:.0f} ({})", s.seconds_over.median, most, what));
    }
  };
  if (target.seconds_over) bound(*target.seconds_over, "fixed");
  if (target.seconds_over_oracle) bound(s.oracle_seconds_over.median + *target.seconds_over_oracle, "oracle and more");
  if (target.seconds_over_share) bound(s.run_s * *target.seconds_over_share + 20, "share of the run and 20 s");
  return sentences;
}

}  // namespace spillway::sim
