#include "sim/runner.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "sim/ideal.h"
#include "sim/simulation.h"

namespace spillway::sim {

namespace {

constexpr double kAloneS = 600;  // enough for a p99, and past the faults of most scenarios

struct Job {
  const Scenario* scenario;
  std::string law;  // "alone" for live without backlog
  std::uint64_t seed;
  bool keep_seconds;
  std::optional<RunResult> result = {};
  double alone_s = 0;
};

std::vector<Job> jobs_of(const Batch& batch) {
  std::vector<Job> jobs;
  for (const Scenario& scenario : batch.scenarios) {
    std::vector<std::string> laws = batch.laws;
    laws.push_back("alone");
    if (std::find(laws.begin(), laws.end(), "oracle") == laws.end()) laws.push_back("oracle");
    for (const std::string& law : laws) {
      for (int i = 0; i < batch.seeds; ++i) {
        jobs.push_back({&scenario, law, batch.seed + static_cast<std::uint64_t>(i),
                        batch.keep_seconds && i == 0 && law != "alone"});
      }
    }
  }
  return jobs;
}

base::Status run(Job& job) {
  if (job.law == "alone") {
    job.alone_s =
        live_p99_alone(*job.scenario, job.seed, std::min(kAloneS, ideal_seconds(*job.scenario).value_or(kAloneS)));
    return {};
  }
  auto result = simulate(*job.scenario, {.law = job.law, .seed = job.seed, .keep_seconds = job.keep_seconds});
  if (!result) return std::unexpected(result.error());
  job.result = std::move(*result);
  return {};
}

}  // namespace

base::Result<std::vector<RunResult>> run_batch(const Batch& batch,
                                               const std::function<void(std::size_t, std::size_t)>& progress) {
  std::vector<Job> jobs = jobs_of(batch);
  std::atomic<std::size_t> next = 0;
  std::mutex reporting;
  std::size_t done = 0;
  std::optional<base::Error> error;
  const auto work = [&] {
    while (true) {
      const std::size_t i = next++;
      if (i >= jobs.size()) return;
      const base::Status status = run(jobs[i]);
      const std::lock_guard lock(reporting);
      if (!status && !error) {
        error = status.error();
        next = jobs.size();
      }
      progress(++done, jobs.size());
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  }
  if (error) return std::unexpected(*error);

  std::vector<RunResult> results;
  for (Job& job : jobs) {
    if (!job.result || std::find(batch.laws.begin(), batch.laws.end(), job.law) == batch.laws.end()) continue;
    for (const Job& other : jobs) {
      if (other.scenario != job.scenario || other.seed != job.seed) continue;
      if (other.law == "alone") job.result->live_p99_alone_s = other.alone_s;
      if (other.law == "oracle") job.result->oracle_seconds_over = other.result->seconds_over;
    }
    results.push_back(*job.result);
  }
  return results;
}

}  // namespace spillway::sim
