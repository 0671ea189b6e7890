#include "spillway/resilience/pipeline.h"

#include <gtest/gtest.h>

#include <expected>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>

#include "breaker_probe.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Reply = std::expected<int, std::string>;
using enum StageKind;

static_assert(order_error(std::array{kFallback, kTotalDeadline, kRetry, kBreaker, kRateLimit, kBulkhead,
                                     kAttemptTimeout})
                  .empty());
static_assert(order_error(std::array{kBreaker, kFallback}) == "a fallback inside another policy hides its failures");
static_assert(!order_error(std::array{kRetry, kTotalDeadline}).empty());
static_assert(!order_error(std::array{kAttemptTimeout, kRetry}).empty());
static_assert(!order_error(std::array{kRetry, kBreaker, kRetry}).empty());

TEST(Pipeline, WarnsOfOrdersThatAreRarelyMeant) {
  EXPECT_TRUE(order_warnings(std::array{kRetry, kBreaker, kBulkhead, kAttemptTimeout}).empty());
  EXPECT_EQ(order_warnings(std::array{kBulkhead, kRetry, kBreaker}).size(), 1u);
  EXPECT_EQ(order_warnings(std::array{kRetry, kAttemptTimeout, kRateLimit, kBulkhead}).size(), 2u);
}

// All seven stages in the usual order.
class WholePipeline : public testing::Test {
 protected:
  ManualClock clock_;
  LastGood<int> last_good_{{.staleness = seconds(10)}};
  Random random_{1};
  RetryBudget budget_{{.capacity = 10}};
  Retry<> retry_{{.attempts = 3}, random_, &budget_};
  CircuitBreaker breaker_{{.window_size = 10, .minimum_calls = 5}, ms(0)};
  RateLimiter rate_{{.calls = 1000, .burst = 1000}};
  Bulkhead bulkhead_{{.limit = 2}};
  decltype(pipeline_on(clock_, last_good_, TotalDeadline(seconds(2)), retry_, breaker_, rate_, bulkhead_,
                       AttemptTimeout(milliseconds(500)))) bank_ =
      pipeline_on(clock_, last_good_, TotalDeadline(seconds(2)), retry_, breaker_, rate_, bulkhead_,
                  AttemptTimeout(milliseconds(500)));
};

TEST_F(WholePipeline, PassesASuccessThrough) {
  const auto answer = bank_.call([](const Attempt& attempt) -> Reply {
    EXPECT_EQ(attempt.number, 1u);
    EXPECT_EQ(attempt.deadline, Deadline::at(ms(500)));
    return 7;
  });
  EXPECT_EQ(answer.value(), 7);
  EXPECT_EQ(answer.attempts, 1u);
  EXPECT_EQ(breaker_.rates(ms(0)).counts.total, 1u);
  EXPECT_EQ(bulkhead_.in_use(), 0u);
  EXPECT_EQ(budget_.balance(), 5100);
}

TEST_F(WholePipeline, RetriesWhatTookTooLongAndHoldsTheTotalDeadline) {
  int runs = 0;
  const auto answer = bank_.call(
      [&]() -> Reply {
        ++runs;
        clock_.sleep(milliseconds(900));
        return 7;
      },
      {.idempotent = true});
  EXPECT_EQ(answer.cause(), Cause::kAttemptTimeout);
  EXPECT_EQ(answer.stopped_by, Cause::kNoTimeLeft);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(breaker_.rates(ms(0)).counts.failed, 2u);
  EXPECT_EQ(bulkhead_.in_use(), 0u);
}

TEST_F(WholePipeline, ATotalDeadlineThatPassesDuringTheCallIsAFailure) {
  const auto answer = bank_.call(
      [&]() -> Reply {
        clock_.sleep(milliseconds(300));
        return 7;
      },
      {.deadline = Deadline::at(ms(200)), .idempotent = true});
  EXPECT_EQ(answer.cause(), Cause::kDeadlineExceeded);
  EXPECT_EQ(breaker_.rates(ms(0)).counts.failed, 1u);
}

TEST_F(WholePipeline, FallsBackToTheLastGoodAnswerWhenRefused) {
  bank_.call([]() -> Reply { return 7; });
  breaker_.force_open(ms(0));
  const auto answer = bank_.call([]() -> Reply { return 8; });
  EXPECT_EQ(answer.value(), 7);
  EXPECT_FALSE(answer.fresh);
  EXPECT_EQ(answer.stopped_by, Cause::kBreakerForcedOpen);
}

TEST_F(WholePipeline, ACancelledCallerGetsNoFurtherAttempt) {
  std::stop_source caller;
  int runs = 0;
  const auto answer = bank_.call(
      [&]() -> Reply {
        ++runs;
        caller.request_stop();
        return std::unexpected("no");
      },
      {.idempotent = true, .cancel = caller.get_token()});
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(answer.cause(), Cause::kCancelled);
  EXPECT_EQ(breaker_.rates(ms(0)).counts.total, 0u);
}

TEST_F(WholePipeline, RethrowsTheLastExceptionAfterAllAttempts) {
  int runs = 0;
  EXPECT_THROW(bank_.call([&]() -> int { throw std::runtime_error(std::to_string(++runs)); }, {.idempotent = true}),
               std::runtime_error);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(breaker_.rates(ms(0)).counts.failed, 3u);
}

TEST_F(WholePipeline, AClockThatGoesBackCountsAsStandingStill) {
  clock_.set(ms(1000));
  const auto answer = bank_.call([&]() -> Reply {
    clock_.set(ms(400));
    return 7;
  });
  EXPECT_EQ(answer.value(), 7);
  EXPECT_EQ(breaker_.rates(ms(0)).counts.total, 1u);
  EXPECT_EQ(bulkhead_.in_use(), 0u);
}

TEST(Pipeline, JudgesErrorsAsTold) {
  ManualClock clock;
  Random random(1);
  Retry<> retry({.attempts = 3}, random);
  CircuitBreaker breaker({}, ms(0));
  const JudgeWith by_text([](const std::string& error) {
    return error == "bad request" ? Judgement{.outcome = Outcome::kIgnored, .retryable = false} : Judgement{};
  });
  int runs = 0;
  const auto answer = pipeline_on(clock, by_text, retry, breaker)
                          .call(
                              [&]() -> Reply {
                                ++runs;
                                return std::unexpected("bad request");
                              },
                              {.idempotent = true});
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(answer.stopped_by, Cause::kNotRetryable);
  EXPECT_EQ(breaker.counters().ignored, 1u);
  EXPECT_EQ(breaker.rates(ms(0)).counts.total, 0u);
}

TEST(Pipeline, TakesBodiesThatReturnNothing) {
  ManualClock clock;
  CircuitBreaker breaker({}, ms(0));
  const auto guarded = pipeline_on(clock, breaker);
  EXPECT_TRUE(guarded.call([] {}).ok());
  const auto failed = guarded.call([]() -> std::expected<void, int> { return std::unexpected(3); });
  EXPECT_EQ(failed.failure().error, 3);
}

TEST(Pipeline, CountsEachCallByItsCause) {
  ManualClock clock;
  DependencyStats stats("bank");
  Bulkhead bulkhead({.limit = 1});
  const auto guarded = pipeline_on(clock, stats, bulkhead);
  guarded.call([&] {
    guarded.call([] { return 1; });
    EXPECT_EQ(stats.figures().in_flight, 1u);
    clock.sleep(milliseconds(1));
    return 1;
  });
  EXPECT_THROW(guarded.call([]() -> int { throw 1; }), int);
  const DependencyFigures figures = stats.figures();
  const auto by = [&](Cause cause) { return figures.by_cause[static_cast<std::size_t>(cause)]; };
  EXPECT_EQ(by(Cause::kNone), 1u);
  EXPECT_EQ(by(Cause::kOperation), 1u);
  EXPECT_EQ(by(Cause::kBulkheadFull), 1u);
  EXPECT_EQ(figures.in_flight, 0u);
  EXPECT_EQ(figures.attempts, 3u);
  EXPECT_EQ(figures.duration_sum_ns, 1'000'000u);
  EXPECT_EQ(figures.by_duration[20], 1u);
}

TEST(Pipeline, WaitsForASlotOnTheRealClock) {
  Bulkhead bulkhead({.limit = 1, .max_wait = seconds(60)});
  const auto guarded = pipeline(bulkhead);
  auto held = bulkhead.try_acquire();
  std::jthread holder([&bulkhead, permit = std::move(held)]() mutable {
    while (bulkhead.waiting() == 0) std::this_thread::yield();
    permit.drop();
  });
  EXPECT_TRUE(guarded.call([] { return 1; }).ok());
}

TEST(Pipeline, AWaitForASlotThatIsOverIsARefusal) {
  ManualClock clock;
  Bulkhead bulkhead({.limit = 1, .max_wait = milliseconds(100)});
  const auto guarded = pipeline_on(clock, bulkhead);
  const auto held = bulkhead.try_acquire();
  EXPECT_EQ(guarded.call([] { return 1; }).cause(), Cause::kBulkheadTimeout);
  EXPECT_EQ(clock.now(), ms(100));
  const auto hurried = guarded.call([] { return 1; }, {.deadline = Deadline::at(ms(130))});
  EXPECT_EQ(hurried.cause(), Cause::kExpiredBeforeStart);
  EXPECT_EQ(bulkhead.waiting(), 0u);
}

}  // namespace
}  // namespace spillway::resilience
