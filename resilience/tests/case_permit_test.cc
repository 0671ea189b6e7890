// Cases about permits that come back without an outcome: dropped, refused further in, cancelled, thrown through.
#include <gtest/gtest.h>

#include <coroutine>
#include <expected>
#include <stdexcept>
#include <string>

#include "breaker_probe.h"
#include "spillway/resilience/pipeline.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using Reply = std::expected<int, std::string>;

BreakerSettings one_trial() {
  return {.window_size = 10, .minimum_calls = 5, .open_wait = milliseconds(5000), .trials = 1};
}

void open_by_five(CircuitBreaker& breaker) {
  play(breaker, "FFFFF", ms(0));
  ASSERT_EQ(breaker.state(), BreakerState::kOpen);
}

// A coroutine that holds a permit while it is suspended for ever.
struct Holding {
  struct promise_type {
    Holding get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

Holding hold_a_permit(CircuitBreaker& breaker) {
  auto admission = breaker.try_acquire(ms(5000));
  co_await std::suspend_always{};
  admission.permit.record(Outcome::kFailure, Duration::zero(), ms(5000));
}

TEST(ResilienceCase, S11_ADroppedTrialIsNeutralAndComesBackOnce) {
  CircuitBreaker breaker(one_trial(), ms(0));
  open_by_five(breaker);
  { EXPECT_TRUE(breaker.try_acquire(ms(5000))); }
  EXPECT_EQ(breaker.state(), BreakerState::kHalfOpen);
  EXPECT_EQ(breaker.trials_free(), 1u);

  const Holding holding = hold_a_permit(breaker);
  EXPECT_EQ(breaker.trials_free(), 0u);
  holding.handle.destroy();
  EXPECT_EQ(breaker.trials_free(), 1u);

  // The caller goes away while the trial runs, and the operation breaks off.
  ManualClock clock(ms(5000));
  std::stop_source caller;
  const auto guarded = pipeline_on(clock, breaker);
  const auto cancelled = guarded.call(
      [&]() -> Reply {
        caller.request_stop();
        return std::unexpected("broken off");
      },
      {.cancel = caller.get_token()});
  EXPECT_EQ(cancelled.cause(), Cause::kCancelled);
  EXPECT_EQ(breaker.state(), BreakerState::kHalfOpen);
  EXPECT_EQ(breaker.trials_free(), 1u);
  EXPECT_TRUE(breaker.try_acquire(ms(5000)));
}

TEST(ResilienceCase, S15_BulkheadRefusalsAreNeutralForTheBreakerOutside) {
  ManualClock clock;
  CircuitBreaker breaker(one_trial(), ms(0));
  Bulkhead bulkhead({.limit = 1});
  const auto guarded = pipeline_on(clock, breaker, bulkhead);
  const auto outer = guarded.call([&] {
    for (int i = 0; i < 20; ++i) {
      bool ran = false;
      const auto refused = guarded.call([&] { return ran = true; });
      EXPECT_FALSE(ran);
      EXPECT_EQ(refused.cause(), Cause::kBulkheadFull);
    }
    EXPECT_EQ(breaker.state(), BreakerState::kClosed);
    EXPECT_EQ(breaker.rates(ms(0)).counts.total, 0u);
    return 1;
  });
  EXPECT_TRUE(outer.ok());
  EXPECT_EQ(breaker.rates(ms(0)).counts.total, 1u);
}

TEST(ResilienceCase, S16_ATrialRefusedFurtherInComesBackAndALaterOneCloses) {
  ManualClock clock(ms(5000));
  CircuitBreaker breaker(one_trial(), ms(0));
  open_by_five(breaker);
  Bulkhead bulkhead({.limit = 1});
  const auto guarded = pipeline_on(clock, breaker, bulkhead);
  {
    const auto somebody_else = bulkhead.try_acquire();
    EXPECT_EQ(guarded.call([] { return 1; }).cause(), Cause::kBulkheadFull);
  }
  EXPECT_EQ(breaker.state(), BreakerState::kHalfOpen);
  EXPECT_EQ(breaker.trials_free(), 1u);
  EXPECT_TRUE(guarded.call([] { return 1; }).ok());
  EXPECT_EQ(breaker.state(), BreakerState::kClosed);
}

TEST(ResilienceCase, S17_AnExceptionCountsAsFailureAndPassesUnchanged) {
  ManualClock clock;
  BreakerSettings settings = one_trial();
  settings.trials = 2;
  CircuitBreaker breaker(settings, ms(0));
  const auto guarded = pipeline_on(clock, breaker);
  const std::runtime_error thrown("out of paper");
  const std::exception_ptr original = std::make_exception_ptr(thrown);
  std::exception_ptr caught;
  try {
    guarded.call([&]() -> int { std::rethrow_exception(original); });
  } catch (...) {
    caught = std::current_exception();
  }
  EXPECT_EQ(caught, original);
  EXPECT_EQ(breaker.rates(ms(0)).counts.failed, 1u);

  int throws = 0;
  while (throws < 1000) {
    try {
      const auto refused = guarded.call([&]() -> int {
        ++throws;
        throw thrown;
      });
      ASSERT_EQ(refused.cause(), Cause::kBreakerOpen);
      clock.sleep(milliseconds(5000));
    } catch (const std::runtime_error&) {
    }
    ASSERT_LE(breaker.trials_free(), 2u);
  }
  clock.sleep(milliseconds(5000));
  const auto first = breaker.try_acquire(clock.now());
  const auto second = breaker.try_acquire(clock.now());
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
  EXPECT_FALSE(breaker.try_acquire(clock.now()));
}

TEST(ResilienceCase, S37_ABulkheadWithoutWaitRefusesAtOnceAndReleasesOnThrow) {
  ManualClock clock;
  Bulkhead bulkhead({.limit = 2});
  const auto guarded = pipeline_on(clock, bulkhead);
  {
    const auto first = bulkhead.try_acquire();
    const auto second = bulkhead.try_acquire();
    bool ran = false;
    EXPECT_EQ(guarded.call([&] { return ran = true; }).cause(), Cause::kBulkheadFull);
    EXPECT_FALSE(ran);
    EXPECT_EQ(clock.now(), ms(0));
  }
  EXPECT_THROW(guarded.call([]() -> int { throw std::logic_error("no"); }), std::logic_error);
  EXPECT_EQ(bulkhead.available(), 2u);
}

}  // namespace
}  // namespace spillway::resilience
