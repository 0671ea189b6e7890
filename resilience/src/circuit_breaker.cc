#include "spillway/resilience/circuit_breaker.h"

#include <algorithm>

namespace spillway::resilience {

std::optional<SettingError> BreakerSettings::first_error() const {
  const std::int64_t largest = window == WindowKind::kCount ? 1'000'000 : 3'600;
  return SettingCheck("circuit_breaker")
      .that(!name.empty() && name.size() < 32, "name", '"' + name + '"', "1 to 31 bytes")
      .whole("window_size", window_size, 1, largest)
      .whole("minimum_calls", minimum_calls, 1, 1'000'000)
      .whole("failure_rate_percent", failure_rate_percent, 1, 100)
      .whole("slow_rate_percent", slow_rate_percent, 1, 100)
      .time("slow_threshold", slow_threshold, Duration(1), kLongestTime)
      .time("open_wait", open_wait, Duration(1), kLongestTime)
      .whole("trials", trials, 1, 10'000)
      .first_error();
}

const char* to_string(BreakerState state) noexcept {
  switch (state) {
    case BreakerState::kClosed: return "closed";
    case BreakerState::kOpen: return "open";
    case BreakerState::kHalfOpen: return "half_open";
    case BreakerState::kForcedOpen: return "forced_open";
    case BreakerState::kDisabled: return "disabled";
    case BreakerState::kMetricsOnly: return "metrics_only";
  }
  return "unknown";
}

CircuitBreaker::CircuitBreaker(BreakerSettings settings, Instant created, EventQueue* events)
    : settings_(checked(std::move(settings))),
      events_(events),
      window_(settings_.window, settings_.window_size, created) {}

CircuitBreaker::Admission CircuitBreaker::acquire_trial(Instant now) noexcept {
  const std::lock_guard held(lock_);
  const BreakerState state = state_of(word_.load(std::memory_order_relaxed));
  if (state == BreakerState::kOpen) {
    if (now.time_since_epoch().count() < open_until_.load(std::memory_order_relaxed)) {
      return refuse(Cause::kBreakerOpen);
    }
    enter(BreakerState::kHalfOpen, now, EventKind::kBreakerHalfOpened);
  } else if (state == BreakerState::kForcedOpen) {
    return refuse(Cause::kBreakerForcedOpen);
  } else if (state != BreakerState::kHalfOpen) {
    return {Permit(this, word_.load(std::memory_order_relaxed)), Cause::kNone};
  }
  if (trials_.total + trials_out_ >= settings_.trials) return refuse(Cause::kBreakerTrialsTaken);
  ++trials_out_;
  return {Permit(this, word_.load(std::memory_order_relaxed)), Cause::kNone};
}

void CircuitBreaker::give_trial_back(std::uint64_t word) noexcept {
  const std::lock_guard held(lock_);
  if (word_.load(std::memory_order_relaxed) == word) --trials_out_;
}

void CircuitBreaker::record(std::uint64_t word, Outcome outcome, Duration took, Instant now) noexcept {
  const BreakerState state = state_of(word);
  if (state == BreakerState::kDisabled) return;
  if (outcome == Outcome::kIgnored) {
    ignored_.fetch_add(1, std::memory_order_relaxed);
    return give_back(word);
  }
  const bool failed = outcome == Outcome::kFailure;
  const bool slow = took > settings_.slow_threshold;
  const std::lock_guard held(lock_);
  if (word_.load(std::memory_order_relaxed) != word) {
    stale_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (state == BreakerState::kHalfOpen) {
    --trials_out_;
    ++trials_.total;
    trials_.failed += failed;
    trials_.slow += slow;
    judge_trials(now);
  } else {
    if (window_.add(failed, slow, now)) judge_window(state, now);
  }
}

void CircuitBreaker::judge_trials(Instant now) noexcept {
  if (trials_.total < settings_.trials) return;
  if (reaches_threshold(trials_)) {
    enter(BreakerState::kOpen, now, EventKind::kBreakerOpened);
  } else {
    enter(BreakerState::kClosed, now, EventKind::kBreakerClosed);
  }
}

void CircuitBreaker::judge_window(BreakerState state, Instant now) noexcept {
  const CallCounts& counts = window_.counts(now);
  if (counts.total < least_calls(state) || !reaches_threshold(counts)) return;
  if (state == BreakerState::kClosed) {
    enter(BreakerState::kOpen, now, EventKind::kBreakerOpened);
  } else if (!rate_exceeded_told_) {
    rate_exceeded_told_ = true;
    tell(EventKind::kBreakerRateExceeded, now);
  }
}

bool CircuitBreaker::reaches_threshold(const CallCounts& counts) const noexcept {
  const auto reached = [&](std::uint64_t part, std::uint64_t percent) { return part * 100 >= percent * counts.total; };
  return reached(counts.failed, settings_.failure_rate_percent) || reached(counts.slow, settings_.slow_rate_percent);
}

std::uint32_t CircuitBreaker::least_calls(BreakerState state) const noexcept {
  if (state == BreakerState::kHalfOpen) return settings_.trials;
  return settings_.window == WindowKind::kCount ? std::min(settings_.minimum_calls, settings_.window_size)
                                                : settings_.minimum_calls;
}

void CircuitBreaker::enter(BreakerState state, Instant now, EventKind kind) noexcept {
  const std::uint64_t generation = (word_.load(std::memory_order_relaxed) >> kStateBits) + 1;
  if (state == BreakerState::kOpen) {
    const bool trials_failed = state_of(word_.load(std::memory_order_relaxed)) == BreakerState::kHalfOpen;
    opened_by_ = trials_failed ? trials_ : window_.counts(now);
    open_until_.store(add_saturating(now, settings_.open_wait).time_since_epoch().count(), std::memory_order_relaxed);
  }
  trials_ = {};
  trials_out_ = 0;
  rate_exceeded_told_ = false;
  window_.clear();
  word_.store(generation << kStateBits | static_cast<std::uint64_t>(state), std::memory_order_release);
  tell(kind, now);
}

void CircuitBreaker::switch_by_hand(BreakerState state, Instant now) noexcept {
  const std::lock_guard held(lock_);
  enter(state, now, state == BreakerState::kClosed ? EventKind::kBreakerClosed : EventKind::kBreakerForced);
}

void CircuitBreaker::tell(EventKind kind, Instant now) noexcept {
  if (events_ == nullptr) return;
  Event event{.at = now, .kind = kind, .value = word_.load(std::memory_order_relaxed) >> kStateBits};
  settings_.name.copy(event.source.data(), event.source.size() - 1);
  events_->push(event);
}

BreakerRates CircuitBreaker::rates(Instant now) const {
  const std::lock_guard held(lock_);
  const BreakerState state = state_of(word_.load(std::memory_order_relaxed));
  BreakerRates rates;
  if (state == BreakerState::kOpen) {
    rates.counts = opened_by_;
  } else {
    rates.counts = state == BreakerState::kHalfOpen ? trials_ : window_.counts(now);
  }
  if (state == BreakerState::kOpen || rates.counts.total >= least_calls(state)) {
    rates.failure_percent = 100.0 * rates.counts.failed / rates.counts.total;
    rates.slow_percent = 100.0 * rates.counts.slow / rates.counts.total;
  }
  return rates;
}

BreakerCounters CircuitBreaker::counters() const noexcept {
  return {not_permitted_.load(std::memory_order_relaxed), ignored_.load(std::memory_order_relaxed),
          stale_.load(std::memory_order_relaxed)};
}

std::uint32_t CircuitBreaker::trials_free() const noexcept {
  const std::lock_guard held(lock_);
  if (state_of(word_.load(std::memory_order_relaxed)) != BreakerState::kHalfOpen) return 0;
  return settings_.trials - trials_.total - trials_out_;
}

}  // namespace spillway::resilience
