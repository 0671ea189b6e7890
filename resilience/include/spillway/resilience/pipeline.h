// Several policies around one call, from the outermost to the innermost:
//   auto bank = pipeline(last_good, TotalDeadline(2s), retry, breaker, rate_limiter, bulkhead, AttemptTimeout(500ms));
//   auto answer = bank.call([&](const Attempt& attempt) -> std::expected<Reply, BankError> { … }, {.idempotent =
//   true});
// Any order that makes sense is accepted; this one is the usual one. Stages before the retry act once a call, those
// after it once an attempt.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "spillway/resilience/call.h"
#include "spillway/resilience/clock.h"
#include "spillway/resilience/stage.h"
#include "spillway/resilience/stage_order.h"

namespace spillway::resilience {

namespace detail {

enum class Action : std::uint8_t {
  kRun,   // run the body, then say how it ended
  kWait,  // wait as the frame says, then go on
  kDone,  // the result is there
};

// One call on its way through the stages. Does no waiting itself: it says what to do next, and a driver does it. To
// destroy it at any moment gives back all that was taken, and counts for nothing.
template <typename T, typename E, typename... Stages>
class Call {
 public:
  Call(const std::tuple<Stages...>& stages, const CallOptions& options, Instant now) : stages_(stages) {
    frame_.options = &options;
    frame_.started = frame_.attempt_started = now;
    frame_.deadline = frame_.attempt_deadline = options.deadline;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // From the start, or after a wait.
  Action go_on(Instant now) {
    frame_.waiter = nullptr;
    for (;;) {
      switch (phase_) {
        case Phase::kOuter: {
          const Step step = enter<0, kSplit>(now);
          if (step == Step::kWait) return Action::kWait;
          if (step == Step::kRefuse) return end_refused(frame_.refusal, now);
          phase_ = Phase::kStart;
          break;
        }
        case Phase::kStart:
          ++frame_.attempts;
          frame_.attempt_deadline = frame_.deadline;
          entered_ = kInner;
          phase_ = Phase::kInner;
          break;
        case Phase::kInner: {
          if (frame_.options->cancel.stop_requested()) return end_attempt_refused(Cause::kCancelled, now);
          if (frame_.deadline.expired(now)) return end_attempt_refused(Cause::kExpiredBeforeStart, now);
          const Step step = enter<kInner, kStages>(now);
          if (step == Step::kWait) return Action::kWait;
          if (step == Step::kRefuse) return end_attempt_refused(frame_.refusal, now);
          frame_.attempt_started = now;
          return Action::kRun;
        }
      }
    }
  }

  // After the body ran.
  Action finished(AttemptEnd<T, E>&& end, Instant now) {
    const Duration took = elapsed(frame_.attempt_started, now);
    const bool late = now > frame_.attempt_deadline.instant();
    if (end.returned && end.returned->has_value() && !late) {
      leave<kInner, kStages>({Cause::kNone, Outcome::kSuccess, took}, now);
      return succeed(*std::move(end.returned), now);
    }
    return fail(std::move(end), took, now);
  }

  const CallFrame& frame() const noexcept { return frame_; }
  Attempt attempt() const noexcept { return {frame_.attempts, frame_.attempt_deadline}; }

  // Once done. An operation that ended by an exception ends so for the caller too.
  CallResult<T, E> take_result() {
    if (!result_.ok() && result_.result.error().cause == Cause::kOperation && result_.result.error().exception) {
      std::rethrow_exception(result_.result.error().exception);
    }
    return std::move(result_);
  }

 private:
  enum class Phase : std::uint8_t { kOuter, kStart, kInner };

  static constexpr std::size_t kStages = sizeof...(Stages);
  static constexpr std::array<StageKind, kStages> kOrder{Stages::kKind...};
  static constexpr std::size_t kRetryAt = place_of(kOrder, StageKind::kRetry);
  static constexpr std::size_t kFallbackAt = place_of(kOrder, StageKind::kFallback);
  static constexpr std::size_t kJudgeAt = place_of(kOrder, StageKind::kJudge);
  static constexpr std::size_t kSplit = kRetryAt != kNowhere ? kRetryAt : leading_call_stages(kOrder);
  static constexpr std::size_t kInner = kRetryAt != kNowhere ? kRetryAt + 1 : kSplit;

  template <std::size_t First, std::size_t Last>
  Step enter(Instant now) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      Step step = Step::kGo;
      ((step = step == Step::kGo && entered_ <= First + I ? enter_one<First + I>(now) : step), ...);
      return step;
    }(std::make_index_sequence<Last - First>{});
  }
  template <std::size_t I>
  Step enter_one(Instant now) {
    const Step step = std::get<I>(stages_).enter(std::get<I>(slots_), frame_, now);
    if (step == Step::kGo) entered_ = I + 1;
    return step;
  }

  template <std::size_t First, std::size_t Last>
  void leave(const Ending& ending, Instant now) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (leave_one<Last - 1 - I>(ending, now), ...);
    }(std::make_index_sequence<Last - First>{});
    entered_ = First;
  }
  template <std::size_t I>
  void leave_one(const Ending& ending, Instant now) {
    if (entered_ > I) std::get<I>(stages_).leave(std::get<I>(slots_), frame_, ending, now);
  }

  Action succeed(std::expected<T, E>&& returned, Instant now) {
    if constexpr (kRetryAt != kNowhere) std::get<kRetryAt>(stages_).policy->succeeded();
    if constexpr (std::is_void_v<T>) {
      result_.result.emplace();
    } else {
      result_.result = *std::move(returned);
      if constexpr (kFallbackAt != kNowhere) std::get<kFallbackAt>(stages_).policy->remember(*result_.result, now);
    }
    return end({Cause::kNone, Outcome::kSuccess, elapsed(frame_.started, now)}, now);
  }

  Action fail(AttemptEnd<T, E>&& attempt, Duration took, Instant now) {
    Failure<E>& failure = result_.result.error();
    Judgement judgement{};
    if (attempt.thrown) {
      failure.cause = Cause::kOperation;
      judgement = judge_thrown(attempt.thrown);
      failure.exception = std::move(attempt.thrown);
    } else if (attempt.returned && !attempt.returned->has_value()) {
      failure.cause = Cause::kOperation;
      judgement = judge_error(attempt.returned->error());
      failure.error = std::move(attempt.returned->error());
    } else {
      // Nothing to show, or a success that came when nobody waited for it any more.
      failure.cause = now >= frame_.deadline.instant() ? Cause::kDeadlineExceeded : Cause::kAttemptTimeout;
    }
    if (frame_.options->cancel.stop_requested()) failure.cause = Cause::kCancelled;
    leave<kInner, kStages>({failure.cause, judgement.outcome, took}, now);
    if (failure.cause == Cause::kCancelled) return end_refused(Cause::kCancelled, now);
    if constexpr (kRetryAt != kNowhere) {
      const RetryAnswer answer = std::get<kRetryAt>(stages_).policy->decide({.judgement = judgement,
                                                                             .idempotent = frame_.options->idempotent,
                                                                             .attempts = frame_.attempts,
                                                                             .started = frame_.started,
                                                                             .now = now,
                                                                             .deadline = frame_.deadline});
      if (answer.again) {
        frame_.wait_until = add_saturating(now, answer.delay);
        phase_ = Phase::kStart;
        return answer.delay == Duration::zero() ? go_on(now) : Action::kWait;
      }
      result_.stopped_by = answer.cause;
    }
    return end({failure.cause, judgement.outcome, elapsed(frame_.started, now)}, now);
  }

  Action end_attempt_refused(Cause cause, Instant now) {
    leave<kInner, kStages>({cause, Outcome::kIgnored, Duration::zero()}, now);
    return end_refused(cause, now);
  }

  // A refusal is never retried: it ends the call.
  Action end_refused(Cause cause, Instant now) {
    result_.result.error().cause = cause;
    result_.stopped_by = cause;
    return end({cause, Outcome::kIgnored, elapsed(frame_.started, now)}, now);
  }

  Action end(const Ending& ending, Instant now) {
    if (phase_ != Phase::kOuter) entered_ = kSplit;
    leave<0, kSplit>(ending, now);
    result_.attempts = frame_.attempts;
    if constexpr (kFallbackAt != kNowhere) {
      static_assert(!std::is_void_v<T>, "a fallback needs a value");
      if (!result_.ok() && ending.cause != Cause::kCancelled) fall_back(now);
    }
    return Action::kDone;
  }

  void fall_back(Instant now) {
    if (auto stale = std::get<kFallbackAt>(stages_).policy->recall(now)) {
      result_.stopped_by = result_.result.error().cause;
      result_.result = std::move(stale->value);
      result_.fresh = false;
      result_.age = stale->age;
    }
  }

  Judgement judge_error(const E& error) const {
    if constexpr (kJudgeAt != kNowhere) {
      using Judge = std::tuple_element_t<kJudgeAt, std::tuple<Stages...>>;
      if constexpr (std::is_invocable_r_v<Judgement, decltype(std::declval<Judge>().policy) const&, const E&>) {
        return std::invoke(std::get<kJudgeAt>(stages_).policy, error);
      }
    } else if constexpr (Judged<E>) {
      return judge(error);
    }
    return {};
  }
  Judgement judge_thrown(const std::exception_ptr& thrown) const {
    if constexpr (kJudgeAt != kNowhere) {
      using Judge = std::tuple_element_t<kJudgeAt, std::tuple<Stages...>>;
      if constexpr (std::is_invocable_r_v<Judgement, decltype(std::declval<Judge>().policy) const&,
                                          std::exception_ptr>) {
        return std::invoke(std::get<kJudgeAt>(stages_).policy, thrown);
      }
    }
    return {};
  }

  const std::tuple<Stages...>& stages_;
  std::tuple<typename Stages::Slot...> slots_{};
  CallFrame frame_{};
  std::size_t entered_ = 0;  // stages up to here are in
  Phase phase_ = Phase::kOuter;
  CallResult<T, E> result_{std::unexpected(Failure<E>{})};
};

template <typename Body>
decltype(auto) run_body(Body& body, const Attempt& attempt) {
  if constexpr (std::is_invocable_v<Body&, const Attempt&>) {
    return std::invoke(body, attempt);
  } else {
    return std::invoke(body);
  }
}

template <typename Body>
using BodyResult = std::remove_cvref_t<decltype(run_body(std::declval<Body&>(), std::declval<const Attempt&>()))>;

}  // namespace detail

// Any thread may call through one pipeline, as often at once as its policies allow. Allocates nothing by itself.
template <ClockLike Clock, typename... Stages>
class Pipeline {
 public:
  static constexpr std::array<StageKind, sizeof...(Stages)> kOrder{Stages::kKind...};
  static_assert(order_error(kOrder).empty(), "the order of these stages makes no sense: see order_error()");

  Pipeline(Clock& clock, Stages... stages) : clock_(&clock), stages_(std::move(stages)...) {}

  // What is allowed in this order, but rarely meant. Log it once.
  std::vector<std::string_view> warnings() const { return order_warnings(kOrder); }

  // Runs `body`, a callable with or without `const Attempt&` that returns a value, nothing, or std::expected. Blocks
  // while it waits or sleeps. A body is not interrupted at its deadline: it is told the deadline, and a success that
  // comes later counts as a failure and is dropped. A body that throws counts as failed; if no further attempt follows,
  // the same exception reaches the caller.
  template <typename Body>
  auto call(Body&& body, const CallOptions& options = {}) const {
    using R = detail::BodyResult<Body>;
    using T = typename detail::Returned<R>::Value;
    using E = typename detail::Returned<R>::Error;
    detail::Call<T, E, Stages...> call(stages_, options, clock_->now());
    detail::Action action = call.go_on(call.frame().started);
    for (;;) {
      switch (action) {
        case detail::Action::kRun: {
          auto end = run<T, E>(body, call.attempt());
          action = call.finished(std::move(end), clock_->now());
          break;
        }
        case detail::Action::kWait:
          wait(call.frame());
          action = call.go_on(clock_->now());
          break;
        case detail::Action::kDone: return call.take_result();
      }
    }
  }

  // For drivers other than the blocking one.
  const std::tuple<Stages...>& stages() const noexcept { return stages_; }
  Clock& clock() const noexcept { return *clock_; }

 private:
  template <typename T, typename E, typename Body>
  static detail::AttemptEnd<T, E> run(Body& body, const Attempt& attempt) {
    detail::AttemptEnd<T, E> end;
    try {
      if constexpr (std::is_void_v<T> && std::is_same_v<E, NoError>) {
        detail::run_body(body, attempt);
        end.returned.emplace();
      } else {
        end.returned.emplace(detail::run_body(body, attempt));
      }
    } catch (...) {
      end.thrown = std::current_exception();
    }
    return end;
  }

  void wait(const detail::CallFrame& frame) const {
    if (frame.waiter != nullptr) {
      if constexpr (requires { clock_->park(*frame.waiter); }) {
        clock_->park(*frame.waiter);
      } else {
        frame.waiter->block(*clock_);
      }
      return;
    }
    const Duration time = elapsed(clock_->now(), frame.wait_until);
    if constexpr (requires { clock_->sleep(time, frame.options->cancel); }) {
      if (frame.options->cancel.stop_possible()) return clock_->sleep(time, frame.options->cancel);
    }
    clock_->sleep(time);
  }

  Clock* clock_;
  std::tuple<Stages...> stages_;
};

// A pipeline by `clock`, which must outlive it, as must all policies given as lvalues.
template <ClockLike Clock, typename... Policies>
auto pipeline_on(Clock& clock, Policies&&... policies) {
  return Pipeline<Clock, decltype(detail::stage_for(std::forward<Policies>(policies)))...>(
      clock, detail::stage_for(std::forward<Policies>(policies))...);
}

// A pipeline by the machine's clock.
template <typename... Policies>
auto pipeline(Policies&&... policies) {
  static SystemClock clock;
  return pipeline_on(clock, std::forward<Policies>(policies)...);
}

}  // namespace spillway::resilience
