// The pipeline and the hedge for Boost.Asio coroutines. The only header here that needs more than the standard library.
// A coroutine that calls through these runs on one strand (or a context with one thread); its body must end when it is
// cancelled. g++ 12 destroys an aggregate temporary or a capturing lambda inside a co_await expression twice: name the
// body and the options first, then co_await.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "spillway/resilience/hedge.h"
#include "spillway/resilience/pipeline.h"

namespace spillway::resilience {

namespace detail {

template <typename A>
struct Awaited;
template <typename R, typename Executor>
struct Awaited<boost::asio::awaitable<R, Executor>> {
  using Result = R;
};
template <typename Body>
using AwaitedResult = typename Awaited<BodyResult<Body>>::Result;

inline boost::asio::awaitable<void> throw_if_cancelled() {
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  if (state.cancelled() != boost::asio::cancellation_type::none) {
    throw boost::system::system_error(boost::asio::error::operation_aborted);
  }
}

// Never throws: what the body throws is part of the end.
template <typename T, typename E, typename Body>
boost::asio::awaitable<AttemptEnd<T, E>> run_awaitable(Body& body, Attempt attempt) {
  AttemptEnd<T, E> end;
  try {
    if constexpr (std::is_void_v<T> && std::is_same_v<E, NoError>) {
      co_await run_body(body, attempt);
      end.returned.emplace();
    } else {
      end.returned.emplace(co_await run_body(body, attempt));
    }
  } catch (...) {
    end.thrown = std::current_exception();
  }
  co_return end;
}

// The same, cancelled at the attempt's deadline; then the end is empty.
template <typename T, typename E, typename Body>
boost::asio::awaitable<AttemptEnd<T, E>> run_until(Body& body, Attempt attempt, Duration left) {
  using namespace boost::asio::experimental::awaitable_operators;
  auto running = run_awaitable<T, E>(body, attempt);
  if (attempt.deadline.is_none()) co_return co_await std::move(running);
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, left);
  auto expiry = timer.async_wait(boost::asio::use_awaitable);
  auto winner = co_await (std::move(running) || std::move(expiry));
  if (winner.index() == 0) co_return std::get<0>(std::move(winner));
  co_return AttemptEnd<T, E>{};
}

// Waits until `timer` expires or somebody cancels it.
inline boost::asio::awaitable<void> wait_for(boost::asio::steady_timer& timer) {
  boost::system::error_code ignored;
  auto token = boost::asio::redirect_error(boost::asio::use_awaitable, ignored);
  co_await timer.async_wait(token);
}

// Wakes a coroutine from the thread that grants its slot. The timer is shared with the wake-up on its way.
class SlotWake {
 public:
  SlotWake(Bulkhead::Waiter& waiter, std::shared_ptr<boost::asio::steady_timer> timer)
      : waiter_(waiter), timer_(std::move(timer)) {
    waiter_.on_wake(
        [](void* self) noexcept {
          auto timer_to_cancel = static_cast<SlotWake*>(self)->timer_;
          const auto executor = timer_to_cancel->get_executor();
          boost::asio::post(executor, [t = std::move(timer_to_cancel)] { t->cancel(); });
        },
        this);
  }
  SlotWake(const SlotWake&) = delete;
  SlotWake& operator=(const SlotWake&) = delete;
  ~SlotWake() { waiter_.on_wake(nullptr, nullptr); }

 private:
  Bulkhead::Waiter& waiter_;
  std::shared_ptr<boost::asio::steady_timer> timer_;
};

inline boost::asio::awaitable<void> wait_as_told(const CallFrame& frame, Instant now) {
  const Duration time = elapsed(now, frame.wait_until);
  const auto executor = co_await boost::asio::this_coro::executor;
  auto timer = std::make_shared<boost::asio::steady_timer>(executor, time);
  std::optional<SlotWake> wake;
  if (frame.waiter != nullptr) wake.emplace(*frame.waiter, timer);
  co_await wait_for(*timer);
}

}  // namespace detail

// Runs `body`, a callable with or without `const Attempt&` that returns an awaitable of a value, nothing or
// std::expected, through `pipeline`. As Pipeline::call(), but waits without blocking and cancels the body at its
// deadline. If the caller is cancelled (or the coroutine destroyed) all permits come back, nothing is counted, and
// operation_aborted is thrown.
template <typename Clock, typename... Stages, typename Body>
auto async_call(const Pipeline<Clock, Stages...>& pipeline, Body body, CallOptions options = {})
    -> boost::asio::awaitable<CallResult<typename detail::Returned<detail::AwaitedResult<Body>>::Value,
                                         typename detail::Returned<detail::AwaitedResult<Body>>::Error>> {
  using R = detail::AwaitedResult<Body>;
  using T = typename detail::Returned<R>::Value;
  using E = typename detail::Returned<R>::Error;
  Clock& clock = pipeline.clock();
  detail::Call<T, E, Stages...> call(pipeline.stages(), options, clock.now());
  detail::Action action = call.go_on(call.frame().started);
  while (action != detail::Action::kDone) {
    const Instant now = clock.now();
    if (action == detail::Action::kRun) {
      const Attempt attempt = call.attempt();
      auto end = co_await detail::run_until<T, E>(body, attempt, attempt.deadline.remaining(now));
      co_await detail::throw_if_cancelled();
      action = call.finished(std::move(end), clock.now());
    } else {
      co_await detail::wait_as_told(call.frame(), now);
      co_await detail::throw_if_cancelled();
      action = call.go_on(clock.now());
    }
  }
  co_return call.take_result();
}

namespace detail {

// Thrown inside a race only: a request that brought nothing does not end it.
struct NoAnswer {};

template <typename R, typename Body>
struct HedgeRace {
  Hedge& hedge;
  Body& body;
  bool idempotent;
  std::optional<R> last_failure{};
  std::exception_ptr last_exception{};

  boost::asio::awaitable<R> one(std::uint32_t number) {
    try {
      const Attempt attempt{.number = number};
      R result = co_await run_body(body, attempt);
      if constexpr (requires { result.has_value(); }) {
        if (!result.has_value()) {
          last_failure = std::move(result);
          throw NoAnswer{};
        }
      }
      co_return result;
    } catch (const NoAnswer&) {
      throw;
    } catch (...) {
      last_exception = std::current_exception();
      throw NoAnswer{};
    }
  }

  boost::asio::awaitable<R> after_delay(std::uint32_t sent) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, hedge.delay());
    co_await timer.async_wait(boost::asio::use_awaitable);
    if (hedge.try_send_another(sent, idempotent) != Cause::kNone) throw NoAnswer{};
    co_return co_await from(sent + 1);
  }

  boost::asio::awaitable<R> from(std::uint32_t number) {
    using namespace boost::asio::experimental::awaitable_operators;
    auto this_one = one(number);
    if (number > hedge.hedges()) co_return co_await std::move(this_one);
    auto next_one = after_delay(number);
    auto winner = co_await (std::move(this_one) || std::move(next_one));
    if (winner.index() == 0) co_return std::get<0>(std::move(winner));
    co_return std::get<1>(std::move(winner));
  }
};

}  // namespace detail

// Runs `body` and, each time `hedge.delay()` passes without an answer, once more beside it, as far as the hedge allows.
// The first success wins and the others are cancelled. Without one: the last failure. R is a value or std::expected.
// Stands inside the breaker and bulkhead of each request, so `body` is usually an async_call().
template <typename Body>
auto async_hedged(Hedge& hedge, Body body, bool idempotent) -> boost::asio::awaitable<detail::AwaitedResult<Body>> {
  using R = detail::AwaitedResult<Body>;
  detail::HedgeRace<R, Body> race{.hedge = hedge, .body = body, .idempotent = idempotent};
  try {
    R result = co_await race.from(1);
    hedge.succeeded();
    co_return result;
  } catch (const detail::NoAnswer&) {
  } catch (const boost::asio::multiple_exceptions&) {
    // What a race throws in which nobody brought an answer.
  }
  co_await detail::throw_if_cancelled();
  if (!race.last_failure) std::rethrow_exception(race.last_exception);
  co_return *std::move(race.last_failure);
}

}  // namespace spillway::resilience
