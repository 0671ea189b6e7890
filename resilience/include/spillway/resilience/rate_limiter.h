// Spaces calls evenly. The generic cell rate algorithm (ITU-T I.371): a token bucket that keeps one number and saves up
// no more than `burst` calls however long it was idle.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "spillway/resilience/setting_error.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

struct RateLimitSettings {
  std::uint32_t calls = 100;                  // per period; 1 .. 1,000,000,000
  Duration period = std::chrono::seconds(1);  // 1 ns .. 10 years, at least 1 ns a call
  std::uint32_t burst = 1;                    // calls that may start together after an idle time; 1 .. calls
  Duration max_wait{0};                       // for a turn; 0 (refuse at once) .. 10 years

  std::optional<SettingError> first_error() const;
};

// Any thread; lock-free. A clock that goes back makes calls wait until it has caught up.
class RateLimiter {
 public:
  struct [[nodiscard]] Turn {
    bool granted = false;
    Duration wait{};  // granted: sleep this long, then call. Refused: earliest time that a turn would be free.
  };

  // Throws InvalidSetting.
  explicit RateLimiter(RateLimitSettings settings);

  // A turn within max_wait from `now`, or a refusal that takes nothing. A turn granted is used up, called or not.
  Turn acquire(Instant now) noexcept { return acquire(now, max_wait_.count()); }
  // A turn at `now` or none.
  bool try_acquire(Instant now) noexcept { return acquire(now, 0).granted; }

  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

 private:
  Turn acquire(Instant now, Duration::rep most_wait) noexcept {
    const Duration::rep t = now.time_since_epoch().count();
    Duration::rep next = next_.load(std::memory_order_relaxed);
    for (;;) {
      const Duration::rep earliest = next - tolerance_;
      const Duration::rep wait = t >= earliest ? 0 : earliest - t;
      if (wait > most_wait) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return {false, Duration(wait)};
      }
      if (next_.compare_exchange_weak(next, after(std::max(next, t)), std::memory_order_relaxed)) {
        return {true, Duration(wait)};
      }
    }
  }

  Duration::rep after(Duration::rep t) const noexcept {
    return add_saturating(Instant(Duration(t)), Duration(spacing_)).time_since_epoch().count();
  }

  Duration::rep spacing_;    // between two calls
  Duration::rep tolerance_;  // by which a call may come early: (burst - 1) spacings
  Duration max_wait_;
  std::atomic<Duration::rep> next_;  // when the next call is due at an even pace
  std::atomic<std::uint64_t> refused_{0};
};

}  // namespace spillway::resilience
