// How each policy takes part in a pipeline: what it does before a call or an attempt, and after it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "spillway/resilience/adaptive_limiter.h"
#include "spillway/resilience/bulkhead.h"
#include "spillway/resilience/call.h"
#include "spillway/resilience/circuit_breaker.h"
#include "spillway/resilience/dependency_stats.h"
#include "spillway/resilience/drain_gate.h"
#include "spillway/resilience/fallback.h"
#include "spillway/resilience/load_shedder.h"
#include "spillway/resilience/rate_limiter.h"
#include "spillway/resilience/retry.h"
#include "spillway/resilience/stage_order.h"

namespace spillway::resilience {

namespace detail {

struct TimeSettings {
  const char* policy;
  Duration time;
  std::optional<SettingError> first_error() const {
    return SettingCheck(policy).time("time", time, Duration(1), kLongestTime).first_error();
  }
};

}  // namespace detail

// The time all attempts of a call have together; min(this, the caller's deadline) holds. Throws InvalidSetting.
struct TotalDeadline {
  explicit TotalDeadline(Duration limit) : time(checked(detail::TimeSettings{"total_deadline", limit}).time) {}
  Duration time;
};

// The time one attempt has; it never outlasts the total deadline. Throws InvalidSetting.
struct AttemptTimeout {
  explicit AttemptTimeout(Duration limit) : time(checked(detail::TimeSettings{"attempt_timeout", limit}).time) {}
  Duration time;
};

// Judges errors in a pipeline: called with the body's error or, for a body that throws, its std::exception_ptr. What it
// cannot be called with is a failure that may be retried.
template <typename F>
struct JudgeWith {
  explicit JudgeWith(F f) : judge(std::move(f)) {}
  F judge;
};

namespace detail {

enum class Step : std::uint8_t { kGo, kRefuse, kWait };

// What the stages of one call share.
struct CallFrame {
  const CallOptions* options = nullptr;
  Instant started{};
  Instant attempt_started{};
  Deadline deadline{};  // total
  Deadline attempt_deadline{};
  std::uint32_t attempts = 0;
  Cause refusal = Cause::kNone;        // set with kRefuse
  Bulkhead::Waiter* waiter = nullptr;  // set with kWait: wait for this one…
  Instant wait_until{};                // …or until then
};

struct Ending {
  Cause cause = Cause::kNone;
  Outcome outcome = Outcome::kSuccess;
  Duration took{};
  bool neutral() const noexcept { return is_refusal(cause); }
};

// A stage has a kind, a Slot that lives as long as its part of the call (destroying it gives back what was taken), and
// enter() and leave(). After kWait, enter() is called again with the same slot.
struct PassiveStage {
  struct Slot {};
  Step enter(Slot&, CallFrame&, Instant) const noexcept { return Step::kGo; }
  void leave(Slot&, const CallFrame&, const Ending&, Instant) const noexcept {}
};

template <typename Policy>
struct StageFor;

template <>
struct StageFor<CircuitBreaker> {
  static constexpr StageKind kKind = StageKind::kBreaker;
  using Slot = CircuitBreaker::Permit;
  CircuitBreaker* breaker;

  Step enter(Slot& slot, CallFrame& frame, Instant now) const noexcept {
    auto admission = breaker->try_acquire(now);
    if (!admission) {
      frame.refusal = admission.cause;
      return Step::kRefuse;
    }
    slot = std::move(admission.permit);
    return Step::kGo;
  }
  void leave(Slot& slot, const CallFrame&, const Ending& ending, Instant now) const noexcept {
    if (ending.neutral()) {
      slot.drop();
    } else {
      slot.record(ending.outcome, ending.took, now);
    }
  }
};

template <>
struct StageFor<Bulkhead> {
  static constexpr StageKind kKind = StageKind::kBulkhead;
  struct Slot {
    Bulkhead::Permit permit;
    Bulkhead::Waiter waiter;
  };
  Bulkhead* bulkhead;

  Step enter(Slot& slot, CallFrame& frame, Instant now) const noexcept {
    if (slot.waiter.idle()) {
      if ((slot.permit = bulkhead->try_acquire_uncounted())) return Step::kGo;
    }
    return enter_slowly(slot, frame, now);
  }
  void leave(Slot& slot, const CallFrame&, const Ending&, Instant) const noexcept {
    slot.permit.drop();
    if (!slot.waiter.idle()) slot.waiter.leave();
  }

 private:
  Step enter_slowly(Slot& slot, CallFrame& frame, Instant now) const noexcept {
    using State = Bulkhead::WaitState;
    const bool first = slot.waiter.idle();
    const State state =
        first ? bulkhead->acquire_or_wait(slot.waiter, now, frame.attempt_deadline, frame.options->priority)
              : slot.waiter.poll(now);
    if (state == State::kGranted) {
      slot.permit = slot.waiter.take();
      return Step::kGo;
    }
    if (state == State::kWaiting) {
      frame.waiter = &slot.waiter;
      frame.wait_until = slot.waiter.until();
      return Step::kWait;
    }
    frame.refusal = state == State::kTimedOut ? Cause::kBulkheadTimeout : Cause::kBulkheadFull;
    if (frame.attempt_deadline.expired(now)) frame.refusal = Cause::kExpiredBeforeStart;
    slot.waiter.leave();
    return Step::kRefuse;
  }
};

template <>
struct StageFor<RateLimiter> {
  static constexpr StageKind kKind = StageKind::kRateLimit;
  struct Slot {
    bool has_turn = false;
  };
  RateLimiter* limiter;

  Step enter(Slot& slot, CallFrame& frame, Instant now) const noexcept {
    if (std::exchange(slot.has_turn, true)) return Step::kGo;
    const auto turn = limiter->acquire(now);
    if (!turn.granted || !frame.attempt_deadline.fits(now, turn.wait)) {
      frame.refusal = Cause::kRateLimited;
      return Step::kRefuse;
    }
    if (turn.wait == Duration::zero()) return Step::kGo;
    frame.wait_until = add_saturating(now, turn.wait);
    return Step::kWait;
  }
  void leave(Slot& slot, const CallFrame&, const Ending&, Instant) const noexcept { slot = {}; }
};

template <>
struct StageFor<AdaptiveLimiter> {
  static constexpr StageKind kKind = StageKind::kLimiter;
  using Slot = AdaptiveLimiter::Permit;
  AdaptiveLimiter* limiter;

  Step enter(Slot& slot, CallFrame& frame, Instant now) const noexcept {
    slot = limiter->try_acquire(now);
    if (slot) return Step::kGo;
    frame.refusal = Cause::kConcurrencyLimited;
    return Step::kRefuse;
  }
  void leave(Slot& slot, const CallFrame&, const Ending& ending, Instant now) const noexcept {
    if (ending.neutral()) {
      slot.drop();
    } else {
      slot.record(ending.outcome, now);
    }
  }
};

template <>
struct StageFor<LoadShedder> : PassiveStage {
  static constexpr StageKind kKind = StageKind::kShedder;
  LoadShedder* shedder;
  explicit StageFor(LoadShedder* s) : shedder(s) {}

  Step enter(Slot&, CallFrame& frame, Instant now) const noexcept {
    const CallOptions& options = *frame.options;
    frame.refusal = shedder->admit({.now = now,
                                    .queued_since = options.queued_since.value_or(now),
                                    .deadline = frame.deadline,
                                    .priority = options.priority,
                                    .load_percent = options.load_percent});
    return frame.refusal == Cause::kNone ? Step::kGo : Step::kRefuse;
  }
  void leave(Slot&, const CallFrame&, const Ending& ending, Instant) const noexcept {
    if (!ending.neutral()) shedder->served(ending.took);
  }
};

template <>
struct StageFor<DrainGate> {
  static constexpr StageKind kKind = StageKind::kGate;
  using Slot = DrainGate::Pass;
  DrainGate* gate;

  Step enter(Slot& slot, CallFrame& frame, Instant) const noexcept {
    slot = gate->enter();
    if (slot) return Step::kGo;
    frame.refusal = Cause::kDraining;
    return Step::kRefuse;
  }
  void leave(Slot& slot, const CallFrame&, const Ending&, Instant) const noexcept { slot.drop(); }
};

template <>
struct StageFor<DependencyStats> {
  static constexpr StageKind kKind = StageKind::kStats;
  // A call that is destroyed before its end counts as cancelled.
  struct Slot {
    DependencyStats* open = nullptr;
    Slot() noexcept = default;
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() {
      if (open != nullptr) open->ended(Cause::kCancelled, 0, Duration::zero());
    }
  };
  DependencyStats* stats;

  Step enter(Slot& slot, CallFrame&, Instant) const noexcept {
    slot.open = stats;
    stats->started();
    return Step::kGo;
  }
  void leave(Slot& slot, const CallFrame& frame, const Ending& ending, Instant) const noexcept {
    slot.open = nullptr;
    stats->ended(ending.cause, frame.attempts, ending.took);
  }
};

template <>
struct StageFor<TotalDeadline> : PassiveStage {
  static constexpr StageKind kKind = StageKind::kTotalDeadline;
  Duration time;
  explicit StageFor(const TotalDeadline& deadline) : time(deadline.time) {}

  Step enter(Slot&, CallFrame& frame, Instant now) const noexcept {
    frame.deadline = earlier(frame.deadline, Deadline::after(now, time));
    frame.attempt_deadline = frame.deadline;
    return Step::kGo;
  }
};

template <>
struct StageFor<AttemptTimeout> : PassiveStage {
  static constexpr StageKind kKind = StageKind::kAttemptTimeout;
  Duration time;
  explicit StageFor(const AttemptTimeout& timeout) : time(timeout.time) {}

  Step enter(Slot&, CallFrame& frame, Instant now) const noexcept {
    frame.attempt_deadline = earlier(frame.attempt_deadline, Deadline::after(now, time));
    return Step::kGo;
  }
};

// The engine itself asks the retry, the fallback and the judge.
template <typename Uniform>
struct StageFor<Retry<Uniform>> : PassiveStage {
  static constexpr StageKind kKind = StageKind::kRetry;
  Retry<Uniform>* policy;
  explicit StageFor(Retry<Uniform>* p) : policy(p) {}
};

template <typename T>
struct StageFor<LastGood<T>> : PassiveStage {
  static constexpr StageKind kKind = StageKind::kFallback;
  LastGood<T>* policy;
  explicit StageFor(LastGood<T>* p) : policy(p) {}
};

// A fallback source of the user's own.
template <typename Source>
struct FallbackWith {
  explicit FallbackWith(Source& s) : source(&s) {}
  Source* source;
};
template <typename Source>
struct StageFor<FallbackWith<Source>> : PassiveStage {
  static constexpr StageKind kKind = StageKind::kFallback;
  Source* policy;
  explicit StageFor(const FallbackWith<Source>& fallback) : policy(fallback.source) {}
};

template <typename F>
struct StageFor<JudgeWith<F>> : PassiveStage {
  static constexpr StageKind kKind = StageKind::kJudge;
  F policy;
  explicit StageFor(const JudgeWith<F>& judge) : policy(judge.judge) {}
};

// Policies with state are given as lvalues and must outlive the pipeline; settings are given by value.
template <typename Policy>
auto stage_for(Policy&& policy) {
  using Plain = std::remove_cvref_t<Policy>;
  if constexpr (std::is_constructible_v<StageFor<Plain>, const Plain&>) {
    return StageFor<Plain>(policy);
  } else {
    static_assert(std::is_lvalue_reference_v<Policy>, "a policy with state must outlive the pipeline: name it first");
    return StageFor<Plain>{&policy};
  }
}

}  // namespace detail

using detail::FallbackWith;

}  // namespace spillway::resilience
