// What the policies cost on the hot path, alone and contended, with the allocations counted.
//   resilience_bench --benchmark_repetitions=9 --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <expected>
#include <thread>

#include "allocation_count.h"
#include "spillway/resilience/resilience.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SystemClock steady;

// Allocations of the measured loop per iteration; exact with one thread.
class CountAllocations {
 public:
  explicit CountAllocations(benchmark::State& state) : state_(state), before_(allocation_count()) {}
  ~CountAllocations() {
    if (state_.threads() > 1) return;
    const auto made = static_cast<double>(allocation_count() - before_);
    state_.counters["allocations"] = made;
  }

 private:
  benchmark::State& state_;
  std::uint64_t before_;
};

void BreakerAdmitAndRecord(benchmark::State& state) {
  static CircuitBreaker breaker({}, Instant{});
  const Instant now = steady.now();
  const CountAllocations count(state);
  for (auto _ : state) {
    auto admission = breaker.try_acquire(now);
    admission.permit.record(Outcome::kSuccess, milliseconds(1), now);
  }
}

// The same as a caller without a clock at hand pays it: both readings included.
void BreakerAdmitAndRecordWithClock(benchmark::State& state) {
  static CircuitBreaker breaker({}, Instant{});
  const CountAllocations count(state);
  for (auto _ : state) {
    const Instant start = steady.now();
    auto admission = breaker.try_acquire(start);
    const Instant end = steady.now();
    admission.permit.record(Outcome::kSuccess, end - start, end);
  }
}

void BreakerRefusesWhenOpen(benchmark::State& state) {
  static CircuitBreaker breaker({.minimum_calls = 1, .open_wait = std::chrono::hours(24)}, steady.now());
  breaker.try_acquire(steady.now()).permit.record(Outcome::kFailure, milliseconds(1), steady.now());
  const CountAllocations count(state);
  for (auto _ : state) {
    auto admission = breaker.try_acquire(steady.now());
    benchmark::DoNotOptimize(admission.cause);
  }
}

void BulkheadPair(benchmark::State& state) {
  static Bulkhead bulkhead({.limit = 100});
  const CountAllocations count(state);
  for (auto _ : state) {
    auto permit = bulkhead.try_acquire();
    benchmark::DoNotOptimize(permit);
  }
}

void RateLimiterTurn(benchmark::State& state) {
  static RateLimiter limiter({.calls = 1'000'000'000, .burst = 1'000'000'000});
  const CountAllocations count(state);
  for (auto _ : state) benchmark::DoNotOptimize(limiter.try_acquire(steady.now()));
}

void BudgetWithdrawAndDeposit(benchmark::State& state) {
  static RetryBudget budget({.capacity = 1000, .ratio = 1});
  const CountAllocations count(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(budget.withdraw());
    budget.deposit();
  }
}

// All stages, a body that succeeds at once, the machine's clock.
void PipelineOnSuccess(benchmark::State& state) {
  static LastGood<int> last_good;
  static Random random(1);
  static RetryBudget budget;
  static Retry<> retry({}, random, &budget);
  static CircuitBreaker breaker({}, steady.now());
  static RateLimiter rate({.calls = 1'000'000'000, .burst = 1'000'000'000});
  static Bulkhead bulkhead({.limit = 100});
  static const auto bank =
      pipeline(last_good, TotalDeadline(seconds(2)), retry, breaker, rate, bulkhead, AttemptTimeout(milliseconds(500)));
  const CountAllocations count(state);
  for (auto _ : state) {
    auto answer = bank.call([]() -> std::expected<int, int> { return 7; }, {.idempotent = true});
    benchmark::DoNotOptimize(answer);
  }
}

#define SPILLWAY_BENCH(name)                  \
  BENCHMARK(name);                            \
  BENCHMARK(name)->Threads(2)->UseRealTime(); \
  BENCHMARK(name)->Threads(8)->UseRealTime()
SPILLWAY_BENCH(BreakerAdmitAndRecord);
SPILLWAY_BENCH(BreakerAdmitAndRecordWithClock);
SPILLWAY_BENCH(BreakerRefusesWhenOpen);
SPILLWAY_BENCH(BulkheadPair);
SPILLWAY_BENCH(RateLimiterTurn);
SPILLWAY_BENCH(BudgetWithdrawAndDeposit);
SPILLWAY_BENCH(PipelineOnSuccess);

}  // namespace
}  // namespace spillway::resilience

int main(int argc, char** argv) {
  // A second thread that sleeps: in a process with only one, glibc leaves out the locked instructions of its mutex.
  const std::jthread company([](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
