#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <expected>
#include <vector>

#include "breaker_probe.h"
#include "spillway/resilience/pipeline.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;

double any_share() { return *rc::gen::inRange(0, 1'000'000) / 1e6; }

BackoffSettings any_backoff() {
  const auto base = *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 50);
  const auto cap = *rc::gen::inRange<std::int64_t>(base, kLongestTime.count());
  return {.base = Duration(base), .factor = 1 + 99 * any_share(), .cap = Duration(cap)};
}

TEST(ResilienceProperty, TheDelayStaysWithinZeroAndTheCeiling) {
  EXPECT_TRUE(rc::check("delay within bounds", [] {
    const BackoffSettings settings = any_backoff();
    RC_ASSERT(!settings.first_error().has_value());
    const auto retry = *rc::gen::arbitrary<std::uint32_t>();
    const Duration ceiling = backoff_ceiling(settings, retry);
    const Duration delay = backoff_delay(settings, retry, any_share());
    RC_ASSERT(delay >= Duration::zero());
    RC_ASSERT(delay <= ceiling);
    RC_ASSERT(ceiling <= settings.cap);
    RC_ASSERT(ceiling >= settings.base);
    RC_ASSERT(retry == UINT32_MAX || backoff_ceiling(settings, retry + 1) >= ceiling || retry == 0);
  }));
}

TEST(ResilienceProperty, APlannedDelayFitsTheTotalTimeAndTheDeadline) {
  EXPECT_TRUE(rc::check("planned delay fits", [] {
    const RetrySettings settings{.attempts = *rc::gen::inRange<std::uint32_t>(1, 10),
                                 .backoff = any_backoff(),
                                 .total_time = Duration(*rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 55))};
    RetryQuestion question{.idempotent = *rc::gen::arbitrary<bool>(),
                           .attempts = *rc::gen::inRange<std::uint32_t>(1, 12),
                           .now = Instant(Duration(*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 55)))};
    question.judgement.never_sent = *rc::gen::arbitrary<bool>();
    if (*rc::gen::arbitrary<bool>()) {
      question.judgement.retry_after = Duration(*rc::gen::inRange<std::int64_t>(0, INT64_MAX));
    }
    if (*rc::gen::arbitrary<bool>()) {
      question.deadline = Deadline::after(Instant{}, Duration(*rc::gen::inRange<std::int64_t>(0, INT64_MAX)));
    }
    const RetryAnswer answer = plan_retry(settings, question, any_share());
    RC_ASSERT(answer.again == (answer.cause == Cause::kNone));
    if (!answer.again) return;
    RC_ASSERT(answer.delay >= question.judgement.retry_after.value_or(Duration::zero()));
    RC_ASSERT(elapsed(question.started, question.now) + answer.delay <= settings.total_time);
    RC_ASSERT(!question.deadline.expired(add_saturating(question.now, answer.delay)));
    RC_ASSERT(question.idempotent || question.judgement.never_sent);
    RC_ASSERT(question.attempts < settings.attempts);
  }));
}

TEST(ResilienceProperty, TheBalanceIsNeverNegativeAndNeverAboveTheCapacity) {
  EXPECT_TRUE(rc::check("budget equals its model", [] {
    const RetryBudgetSettings settings{.capacity = *rc::gen::inRange<std::uint32_t>(1, 20),
                                       .ratio = *rc::gen::inRange(1, 1001) / 1000.0};
    RetryBudget budget(settings);
    const std::int64_t capacity = settings.capacity * 1000;
    const std::int64_t earning = std::llround(settings.ratio * 1000);
    std::int64_t balance = capacity / 2;
    for (const bool success : *rc::gen::arbitrary<std::vector<bool>>()) {
      if (success) {
        budget.deposit();
        balance = std::min(capacity, balance + earning);
      } else {
        const bool granted = budget.withdraw();
        RC_ASSERT(granted == (balance >= 1000));
        if (granted) balance -= 1000;
      }
      RC_ASSERT(budget.balance() == balance);
      RC_ASSERT(budget.balance() >= 0);
    }
  }));
}

TEST(ResilienceProperty, TheRateIsNeverExceededInAnyStretchOfTime) {
  EXPECT_TRUE(rc::check("rate limiter keeps its rate", [] {
    const RateLimitSettings settings{.calls = *rc::gen::inRange<std::uint32_t>(1, 20),
                                     .period = milliseconds(*rc::gen::inRange(1, 1000)),
                                     .max_wait = milliseconds(*rc::gen::inRange(0, 200))};
    RateLimiter limiter(settings);
    std::vector<Instant> turns;
    Instant now{};
    for (const auto step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 100))) {
      now += milliseconds(step);
      if (const auto turn = limiter.acquire(now); turn.granted) turns.push_back(now + turn.wait);
    }
    const Duration spacing = settings.period / settings.calls;
    for (std::size_t i = 1; i < turns.size(); ++i) RC_ASSERT(turns[i] - turns[i - 1] >= spacing);
  }));
}

// What a body does each time it is run.
enum class Act { kSucceed, kFail, kThrow, kTakeTooLong, kCancel };

TEST(ResilienceProperty, APipelineLeaksNothingAndCountsEveryAttemptOnce) {
  EXPECT_TRUE(rc::check("pipeline leaks nothing", [] {
    ManualClock clock;
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    RetryBudget budget({.capacity = 5});
    Retry<> retry({.attempts = *rc::gen::inRange<std::uint32_t>(1, 5)}, random, &budget);
    CircuitBreaker breaker({.window_size = 1'000, .minimum_calls = 1'000}, ms(0));
    breaker.metrics_only(ms(0));
    Bulkhead bulkhead({.limit = 1});
    DependencyStats stats("d");
    const auto guarded = pipeline_on(clock, stats, TotalDeadline(std::chrono::seconds(10)), retry, breaker, bulkhead,
                                     AttemptTimeout(milliseconds(100)));
    std::uint32_t counted = 0, calls = 0;
    const auto acts = *rc::gen::container<std::vector<Act>>(
        rc::gen::element(Act::kSucceed, Act::kFail, Act::kThrow, Act::kTakeTooLong, Act::kCancel));
    for (std::size_t next = 0; next < acts.size(); ++calls) {
      std::stop_source caller;
      try {
        guarded.call(
            [&]() -> std::expected<int, int> {
              const Act act = next < acts.size() ? acts[next++] : Act::kSucceed;
              RC_ASSERT(bulkhead.in_use() == 1u);
              counted += act != Act::kCancel;
              if (act == Act::kCancel) caller.request_stop();
              if (act == Act::kTakeTooLong) clock.sleep(milliseconds(101));
              if (act == Act::kThrow) throw 1;
              if (act == Act::kSucceed || act == Act::kTakeTooLong) return 1;
              return std::unexpected(1);
            },
            {.idempotent = *rc::gen::arbitrary<bool>(), .cancel = caller.get_token()});
      } catch (const int&) {
      }
      RC_ASSERT(bulkhead.in_use() == 0u);
    }
    RC_ASSERT(breaker.rates(clock.now()).counts.total == counted);
    const DependencyFigures figures = stats.figures();
    RC_ASSERT(figures.in_flight == 0u);
    std::uint64_t ended = 0;
    for (const auto n : figures.by_cause) ended += n;
    RC_ASSERT(ended == calls);
    RC_ASSERT(budget.balance() >= 0);
  }));
}

}  // namespace
}  // namespace spillway::resilience
