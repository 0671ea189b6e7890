// Stops calling a dependency that fails or crawls, and tries it again with a few calls after a wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "spillway/resilience/call_window.h"
#include "spillway/resilience/cause.h"
#include "spillway/resilience/event.h"
#include "spillway/resilience/outcome.h"
#include "spillway/resilience/setting_error.h"
#include "spillway/resilience/short_lock.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

struct BreakerSettings {
  std::string name = "breaker";  // in events; 1 .. 31 bytes
  WindowKind window = WindowKind::kCount;
  std::uint32_t window_size = 100;          // calls (1 .. 1,000,000) or seconds (1 .. 3,600)
  std::uint32_t minimum_calls = 20;         // below it no rate exists; at least 1; a count window lowers it to its size
  std::uint32_t failure_rate_percent = 50;  // 1 .. 100; reaching it opens
  std::uint32_t slow_rate_percent = 100;    // 1 .. 100; reaching it opens
  Duration slow_threshold = std::chrono::seconds(60);  // longer than this is slow; 1 ns .. 10 years
  Duration open_wait = std::chrono::seconds(30);       // 1 ns .. 10 years
  std::uint32_t trials = 10;                           // calls that decide in half-open; 1 .. 10,000

  std::optional<SettingError> first_error() const;
};

enum class BreakerState : std::uint8_t {
  kClosed,
  kOpen,
  kHalfOpen,
  kForcedOpen,   // refuses until told otherwise
  kDisabled,     // admits all, records nothing
  kMetricsOnly,  // records, never opens
};
const char* to_string(BreakerState state) noexcept;

// What the current window (or the current trials) shows; while open, what opened it. A rate below the minimum of calls
// does not exist.
struct BreakerRates {
  CallCounts counts;
  std::optional<double> failure_percent;
  std::optional<double> slow_percent;
};

struct BreakerCounters {
  std::uint64_t not_permitted = 0;
  std::uint64_t ignored = 0;  // outcomes recorded as kIgnored
  std::uint64_t stale = 0;    // outcomes that came from an older generation and changed nothing
};

// Any thread. Admitting and refusing take no lock except in half-open; recording takes one short one. state() takes
// none. Permits must not outlive the breaker. Half-open begins with the first admission after the wait, not by itself.
class CircuitBreaker {
 public:
  // The right to one call. Remembers the generation it was given in: whatever it does after the breaker changed state
  // changes nothing. Dropped without an outcome it is neutral and gives a trial back.
  class Permit {
   public:
    Permit() noexcept = default;
    Permit(Permit&& other) noexcept : breaker_(std::exchange(other.breaker_, nullptr)), word_(other.word_) {}
    Permit& operator=(Permit&& other) noexcept {
      if (this != &other) {
        drop();
        breaker_ = std::exchange(other.breaker_, nullptr);
        word_ = other.word_;
      }
      return *this;
    }
    ~Permit() { drop(); }

    explicit operator bool() const noexcept { return breaker_ != nullptr; }
    std::uint64_t generation() const noexcept { return word_ >> kStateBits; }

    // Ends the permit with what came of the call. `took` below zero counts as zero.
    void record(Outcome outcome, Duration took, Instant now) noexcept {
      if (CircuitBreaker* breaker = std::exchange(breaker_, nullptr)) breaker->record(word_, outcome, took, now);
    }
    void drop() noexcept {
      if (CircuitBreaker* breaker = std::exchange(breaker_, nullptr)) breaker->give_back(word_);
    }

   private:
    friend class CircuitBreaker;
    Permit(CircuitBreaker* breaker, std::uint64_t word) noexcept : breaker_(breaker), word_(word) {}
    CircuitBreaker* breaker_ = nullptr;
    std::uint64_t word_ = 0;
  };

  struct [[nodiscard]] Admission {
    Permit permit;
    Cause cause = Cause::kNone;  // kNone with a permit, otherwise one of the kBreaker… causes
    explicit operator bool() const noexcept { return static_cast<bool>(permit); }
  };

  // Throws InvalidSetting. Starts closed. `events` may be null and must outlive the breaker.
  CircuitBreaker(BreakerSettings settings, Instant created, EventQueue* events = nullptr);
  CircuitBreaker(const CircuitBreaker&) = delete;
  CircuitBreaker& operator=(const CircuitBreaker&) = delete;

  Admission try_acquire(Instant now) noexcept {
    const std::uint64_t word = word_.load(std::memory_order_acquire);
    switch (state_of(word)) {
      case BreakerState::kClosed:
      case BreakerState::kDisabled:
      case BreakerState::kMetricsOnly: return {Permit(this, word), Cause::kNone};
      case BreakerState::kOpen:
        if (now.time_since_epoch().count() < open_until_.load(std::memory_order_relaxed)) {
          return refuse(Cause::kBreakerOpen);
        }
        return acquire_trial(now);
      case BreakerState::kHalfOpen: return acquire_trial(now);
      case BreakerState::kForcedOpen: break;
    }
    return refuse(Cause::kBreakerForcedOpen);
  }

  BreakerState state() const noexcept { return state_of(word_.load(std::memory_order_acquire)); }
  std::uint64_t generation() const noexcept { return word_.load(std::memory_order_acquire) >> kStateBits; }
  BreakerRates rates(Instant now) const;
  BreakerCounters counters() const noexcept;
  // Trial permits that could be given out now; 0 outside half-open.
  std::uint32_t trials_free() const noexcept;

  // By hand; each starts a new generation with an empty window.
  void force_open(Instant now) noexcept { switch_by_hand(BreakerState::kForcedOpen, now); }
  void disable(Instant now) noexcept { switch_by_hand(BreakerState::kDisabled, now); }
  void metrics_only(Instant now) noexcept { switch_by_hand(BreakerState::kMetricsOnly, now); }
  void reset(Instant now) noexcept { switch_by_hand(BreakerState::kClosed, now); }

 private:
  static constexpr unsigned kStateBits = 3;
  static constexpr BreakerState state_of(std::uint64_t word) noexcept { return static_cast<BreakerState>(word & 7); }

  Admission refuse(Cause cause) noexcept {
    not_permitted_.fetch_add(1, std::memory_order_relaxed);
    return {Permit(), cause};
  }
  Admission acquire_trial(Instant now) noexcept;
  void record(std::uint64_t word, Outcome outcome, Duration took, Instant now) noexcept;
  void give_back(std::uint64_t word) noexcept {
    if (state_of(word) == BreakerState::kHalfOpen) give_trial_back(word);
  }
  void give_trial_back(std::uint64_t word) noexcept;

  // With lock_ held:
  void judge_trials(Instant now) noexcept;
  void judge_window(BreakerState state, Instant now) noexcept;
  bool reaches_threshold(const CallCounts& counts) const noexcept;
  void enter(BreakerState state, Instant now, EventKind kind) noexcept;
  void switch_by_hand(BreakerState state, Instant now) noexcept;
  void tell(EventKind kind, Instant now) noexcept;
  std::uint32_t least_calls(BreakerState state) const noexcept;

  const BreakerSettings settings_;
  EventQueue* const events_;
  std::atomic<std::uint64_t> word_{0};  // generation << 3 | state
  std::atomic<Duration::rep> open_until_{0};
  std::atomic<std::uint64_t> not_permitted_{0};
  std::atomic<std::uint64_t> ignored_{0};
  std::atomic<std::uint64_t> stale_{0};

  mutable ShortLock lock_;
  mutable CallWindow window_;
  CallCounts trials_;
  CallCounts opened_by_;
  std::uint32_t trials_out_ = 0;
  bool rate_exceeded_told_ = false;
};

}  // namespace spillway::resilience
