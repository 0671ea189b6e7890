// Sixteen threads on one of everything, for SPILLWAY_STRESS_SECONDS (3 unless set). Meant for the sanitizers.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <expected>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "spillway/resilience/resilience.h"

namespace spillway::resilience {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kSlots = 6;

Duration stress_time() {
  const char* text = std::getenv("SPILLWAY_STRESS_SECONDS");
  return seconds(text != nullptr ? std::atoi(text) : 3);
}

class Stress {
 public:
  void one_call() {
    const std::uint64_t dice = random_.bits();
    try {
      bank_.call([&](const Attempt&) { return body(dice); },
                 {.idempotent = dice % 3 != 0, .priority = static_cast<std::uint32_t>(dice % 4)});
    } catch (const std::runtime_error&) {
    }
    ++calls_;
    if (dice % 64 == 0) rare(dice / 64);
  }

  void end() {
    gate_.close(clock_.now());
    EXPECT_TRUE(gate_.wait_drained(clock_));
    EXPECT_EQ(bank_.call([]() -> std::expected<int, int> { return 1; }).stopped_by, Cause::kDraining);
    EXPECT_EQ(bulkhead_.in_use(), 0u);
    EXPECT_EQ(bulkhead_.waiting(), 0u);
    EXPECT_EQ(adaptive_.in_flight(), 0u);
    EXPECT_EQ(flights_.size(), 0u);
    EXPECT_LE(most_inside_.load(), kSlots);
    EXPECT_GE(budget_.balance(), 0);
    EXPECT_LE(budget_.balance(), budget_.capacity());
    std::uint64_t ended = 0;
    for (const auto n : stats_.figures().by_cause) ended += n;
    EXPECT_EQ(ended, calls_.load() + 1);
    EXPECT_GT(stats_.figures().by_cause[0], 0u);
    hear_events();
    EXPECT_GT(heard_.load(), 0u);
    std::printf("%llu calls, %llu events, generation %llu of the breaker\n",
                static_cast<unsigned long long>(calls_.load()), static_cast<unsigned long long>(heard_.load()),
                static_cast<unsigned long long>(breaker_.generation()));
  }

  void hear_events() {
    events_.drain([&](const Event&) {
      if (++heard_ % 10 == 0) throw std::runtime_error("listener");
    });
  }

 private:
  std::expected<int, int> body(std::uint64_t dice) {
    const std::uint32_t inside = ++inside_;
    std::uint32_t most = most_inside_;
    while (most < inside && !most_inside_.compare_exchange_weak(most, inside)) {
    }
    if (dice % 16 == 1) std::this_thread::sleep_for(microseconds(50));
    --inside_;
    if (dice % 97 == 0) throw std::runtime_error("body");
    // Phases in which the dependency is down, so that the breaker goes through all its states.
    const bool down = clock_.now().time_since_epoch() / milliseconds(40) % 3 == 0;
    if (down || dice % 11 == 0) return std::unexpected(1);
    return 1;
  }

  void rare(std::uint64_t dice) {
    const Instant now = clock_.now();
    const auto endpoint = static_cast<std::uint32_t>(dice % 8);
    hosts_.record(endpoint, dice % 2 == 0 ? Outcome::kFailure : Outcome::kSuccess, now);
    hosts_.pick(random_(), now);
    const std::string key = std::to_string(dice % 16);
    flights_.run(
        key, [&] { return static_cast<int>(dice); }, clock_, Deadline::after(now, seconds(10)));
    run_once<int>(
        keys_, key, clock_, [] { return 1; }, [&](int) { return dice % 2 == 0; });
    budgets_.of(key).deposit();
    if (hedge_.try_send_another(1, true) == Cause::kNone) hedge_.succeeded();
    if (dice % 5 == 0) breaker_.rates(now);
    if (dice % 301 == 0) breaker_.force_open(now);
    if (dice % 7 == 0 && breaker_.state() == BreakerState::kForcedOpen) breaker_.reset(now);
    // Changes the limit within what the body checks.
    if (dice % 13 == 0) bulkhead_.set_limit(static_cast<std::uint32_t>(1 + dice % kSlots));
  }

  SystemClock clock_;
  EventQueue events_{64};
  Random random_{20240607};
  DependencyStats stats_{"bank"};
  DrainGate gate_{&events_};
  LastGood<int> last_good_;
  RetryBudget budget_{{.capacity = 50}};
  RetryBudgets budgets_;
  Retry<> retry_{{.backoff = {.base = microseconds(1), .cap = microseconds(20)}}, random_, &budget_};
  CircuitBreaker breaker_{
      {.window_size = 50, .minimum_calls = 20, .open_wait = milliseconds(2), .trials = 5}, clock_.now(), &events_};
  RateLimiter rate_{{.calls = 1'000'000, .burst = 1000, .max_wait = microseconds(50)}};
  AdaptiveLimiter adaptive_{{.initial = 12, .lowest = 4, .window = milliseconds(5)}, clock_.now(), &events_};
  LoadShedder shedder_{{}};
  Bulkhead bulkhead_{{.limit = kSlots, .max_wait = milliseconds(1), .queue = 6, .priorities = 3}};
  OutlierEjection hosts_{{.endpoints = 8, .base_time = milliseconds(1), .longest_time = milliseconds(20)}, &events_};
  SingleFlight<std::string, int> flights_;
  MemoryIdempotencyStore<int> keys_{{.capacity = 4, .keep = milliseconds(5)}};
  Hedge hedge_{{}, budget_};

  decltype(pipeline(stats_, gate_, last_good_, TotalDeadline(seconds(1)), shedder_, retry_, breaker_, rate_, adaptive_,
                    bulkhead_, AttemptTimeout(milliseconds(200)))) bank_ =
      pipeline(stats_, gate_, last_good_, TotalDeadline(seconds(1)), shedder_, retry_, breaker_, rate_, adaptive_,
               bulkhead_, AttemptTimeout(milliseconds(200)));

  std::atomic<std::uint32_t> inside_{0};
  std::atomic<std::uint32_t> most_inside_{0};
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<std::uint64_t> heard_{0};
};

TEST(ResilienceStress, SixteenThreadsLeakNothing) {
  Stress stress;
  const SystemClock clock;
  const Instant end = clock.now() + stress_time();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i) {
      threads.emplace_back([&, hears = i == 0] {
        while (clock.now() < end) {
          for (int n = 0; n < 100; ++n) stress.one_call();
          if (hears) stress.hear_events();
        }
      });
    }
  }
  stress.end();
}

}  // namespace
}  // namespace spillway::resilience
