#include "spillway/resilience/asio.h"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <expected>
#include <string>
#include <thread>

#include "breaker_probe.h"

namespace spillway::resilience {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Reply = std::expected<int, std::string>;

SystemClock steady;

// Takes as long as the timer says, or until cancelled.
asio::awaitable<Reply> answer_after(Duration time, int value) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
  co_return value;
}

constexpr Duration kForever = std::chrono::hours(1);

template <typename Awaitable>
auto run(Awaitable awaitable) {
  asio::io_context io;
  auto result = asio::co_spawn(io, std::move(awaitable), asio::use_future);
  io.run();
  return result.get();
}

TEST(AsioPipeline, PassesASuccessThroughAllStages) {
  LastGood<int> last_good;
  Random random(1);
  Retry<> retry({}, random);
  CircuitBreaker breaker({}, steady.now());
  RateLimiter rate({.calls = 1000});
  Bulkhead bulkhead({.limit = 1});
  const auto bank =
      pipeline(last_good, TotalDeadline(seconds(60)), retry, breaker, rate, bulkhead, AttemptTimeout(seconds(30)));
  const auto body = [] { return answer_after(Duration(1), 7); };
  const auto answer = run(async_call(bank, body));
  EXPECT_EQ(answer.value(), 7);
  EXPECT_EQ(bulkhead.in_use(), 0u);
  EXPECT_EQ(breaker.rates(steady.now()).counts.total, 1u);
}

TEST(AsioPipeline, CancelsAnAttemptAtItsTimeoutAndRetries) {
  Random random(1);
  Retry<> retry({.attempts = 2, .backoff = {.base = milliseconds(1), .cap = milliseconds(1)}}, random);
  CircuitBreaker breaker({}, steady.now());
  const auto bank = pipeline(retry, breaker, AttemptTimeout(milliseconds(20)));
  const auto body = [](const Attempt& attempt) {
    return answer_after(attempt.number == 1 ? kForever : Duration(1), 7);
  };
  CallOptions options{.idempotent = true};
  const auto answer = run(async_call(bank, body, options));
  EXPECT_EQ(answer.value(), 7);
  EXPECT_EQ(answer.attempts, 2u);
  EXPECT_EQ(breaker.rates(steady.now()).counts.failed, 1u);
}

TEST(AsioPipeline, ABodyThatThrowsThrowsAtTheCaller) {
  CircuitBreaker breaker({}, steady.now());
  const auto bank = pipeline(breaker, AttemptTimeout(seconds(30)));
  const auto body = []() -> asio::awaitable<int> {
    throw std::runtime_error("out of paper");
    co_return 1;
  };
  EXPECT_THROW(run(async_call(bank, body)), std::runtime_error);
  EXPECT_EQ(breaker.rates(steady.now()).counts.failed, 1u);
}

TEST(AsioPipeline, WaitsForASlotThatAnotherThreadFrees) {
  Bulkhead bulkhead({.limit = 1, .max_wait = std::chrono::minutes(10)});
  const auto bank = pipeline(bulkhead);
  auto held = bulkhead.try_acquire();
  std::jthread holder([&bulkhead, permit = std::move(held)]() mutable {
    while (bulkhead.waiting() == 0) std::this_thread::yield();
    permit.drop();
  });
  const auto body = [] { return answer_after(Duration(1), 7); };
  EXPECT_EQ(run(async_call(bank, body)).value(), 7);
  EXPECT_EQ(bulkhead.in_use(), 0u);
}

// Half-open with one trial, taken by a coroutine that will not end by itself.
class HangingTrial : public testing::Test {
 protected:
  HangingTrial() { play(breaker_, "F", steady.now()); }

  auto start() {
    const auto body = [] { return answer_after(kForever, 7); };
    return async_call(bank_, body);
  }
  void expect_neutral() {
    EXPECT_EQ(breaker_.state(), BreakerState::kHalfOpen);
    EXPECT_EQ(breaker_.trials_free(), 1u);
    EXPECT_EQ(breaker_.rates(steady.now()).counts.total, 0u);
    EXPECT_EQ(bulkhead_.in_use(), 0u);
  }

  CircuitBreaker breaker_{{.window_size = 1, .minimum_calls = 1, .open_wait = Duration(1), .trials = 1}, steady.now()};
  Bulkhead bulkhead_{{.limit = 1}};
  decltype(pipeline(breaker_, bulkhead_, AttemptTimeout(std::chrono::hours(2)))) bank_ =
      pipeline(breaker_, bulkhead_, AttemptTimeout(std::chrono::hours(2)));
};

TEST_F(HangingTrial, ComesBackWhenTheCoroutineIsDestroyed) {
  {
    asio::io_context io;
    asio::co_spawn(io, start(), asio::detached);
    while (breaker_.state() != BreakerState::kHalfOpen) io.run_one();
    io.poll();
    EXPECT_EQ(breaker_.trials_free(), 0u);
  }
  expect_neutral();
}

TEST_F(HangingTrial, ComesBackWhenTheCallerIsCancelled) {
  asio::io_context io;
  asio::cancellation_signal cancel;
  std::exception_ptr thrown;
  asio::co_spawn(io, start(),
                 asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr e, auto) { thrown = e; }));
  io.poll();
  EXPECT_EQ(breaker_.trials_free(), 0u);
  cancel.emit(asio::cancellation_type::terminal);
  io.run();
  EXPECT_THROW(std::rethrow_exception(thrown), boost::system::system_error);
  expect_neutral();
}

TEST(AsioHedge, ASlowFirstRequestIsOvertaken) {
  RetryBudget budget({.capacity = 10});
  Hedge hedge({.delay = milliseconds(5)}, budget);
  const auto body = [](const Attempt& attempt) {
    return answer_after(attempt.number == 1 ? kForever : Duration(1), static_cast<int>(attempt.number));
  };
  EXPECT_EQ(run(async_hedged(hedge, body, true)), 2);
  EXPECT_EQ(hedge.sent(), 1u);
  EXPECT_EQ(budget.balance(), 4100);
}

TEST(AsioHedge, AQuickAnswerCostsNothingAndAnEmptyBudgetSendsNothing) {
  RetryBudget budget({.capacity = 1});
  Hedge hedge({.delay = milliseconds(5)}, budget);
  const auto quick = [] { return answer_after(Duration(1), 7); };
  EXPECT_EQ(run(async_hedged(hedge, quick, true)), 7);
  const auto slow = [] { return answer_after(milliseconds(20), 8); };
  EXPECT_EQ(run(async_hedged(hedge, slow, true)), 8);
  EXPECT_EQ(hedge.sent(), 0u);
}

TEST(AsioHedge, WithoutASuccessTheFailureIsReturned) {
  RetryBudget budget;
  Hedge hedge({.delay = milliseconds(5)}, budget);
  const auto failing = []() -> asio::awaitable<Reply> { co_return std::unexpected("down"); };
  const Reply reply = run(async_hedged(hedge, failing, false));
  EXPECT_EQ(reply.error(), "down");
}

}  // namespace
}  // namespace spillway::resilience
