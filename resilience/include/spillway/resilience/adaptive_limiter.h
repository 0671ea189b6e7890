// Finds by itself how many calls a dependency bears at once, from how long they take and whether they fail.
// Gradient after Netflix concurrency-limits (Gradient2), AIMD after TCP (Chiu, Jain 1989).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "spillway/resilience/cause.h"
#include "spillway/resilience/event.h"
#include "spillway/resilience/outcome.h"
#include "spillway/resilience/setting_error.h"
#include "spillway/resilience/short_lock.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

enum class LimitRule : std::uint8_t {
  kGradient,  // compares the recent latency with a long-term baseline
  kAimd,      // adds one while all goes well, multiplies by `decrease` after a window with a failure
};

struct AdaptiveLimitSettings {
  LimitRule rule = LimitRule::kGradient;
  std::uint32_t initial = 20;                        // calls at once; lowest .. highest
  std::uint32_t lowest = 1;                          // 1 .. highest
  std::uint32_t highest = 1000;                      // lowest .. 1,000,000
  Duration window = std::chrono::milliseconds(500);  // between two decisions; 1 ms .. 1 h
  std::uint32_t minimum_samples = 10;                // a window with fewer decides nothing; 1 .. 1,000,000
  double tolerance = 1.5;                            // latency above tolerance * baseline is overload; 1 .. 10
  double decrease = 0.9;                             // after a window with failures; 0.1 .. 0.99
  double baseline_weight = 0.1;                      // of a new window in the baseline; 0.001 .. 1

  std::optional<SettingError> first_error() const;
};

// Any thread; admission is lock-free, recording takes one short lock. The limit grows only while it is used. Permits
// must not outlive the limiter.
class AdaptiveLimiter {
 public:
  class Permit {
   public:
    Permit() noexcept = default;
    Permit(Permit&& other) noexcept : limiter_(std::exchange(other.limiter_, nullptr)), started_(other.started_) {}
    Permit& operator=(Permit&& other) noexcept {
      if (this != &other) {
        drop();
        limiter_ = std::exchange(other.limiter_, nullptr);
        started_ = other.started_;
      }
      return *this;
    }
    ~Permit() { drop(); }

    explicit operator bool() const noexcept { return limiter_ != nullptr; }
    // A failure is taken as a sign of overload; what is ignored is no sample.
    void record(Outcome outcome, Instant now) noexcept {
      if (AdaptiveLimiter* limiter = std::exchange(limiter_, nullptr)) limiter->record(outcome, started_, now);
    }
    void drop() noexcept {
      if (AdaptiveLimiter* limiter = std::exchange(limiter_, nullptr)) limiter->in_flight_.fetch_sub(1);
    }

   private:
    friend class AdaptiveLimiter;
    Permit(AdaptiveLimiter* limiter, Instant started) noexcept : limiter_(limiter), started_(started) {}
    AdaptiveLimiter* limiter_ = nullptr;
    Instant started_{};
  };

  // Throws InvalidSetting. `events` may be null and must outlive the limiter.
  AdaptiveLimiter(AdaptiveLimitSettings settings, Instant created, EventQueue* events = nullptr);

  // An empty permit means: over the limit.
  [[nodiscard]] Permit try_acquire(Instant now) noexcept;

  std::uint32_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  std::uint32_t in_flight() const noexcept { return in_flight_.load(std::memory_order_relaxed); }
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }
  // The latency held to be normal; zero before the first full window. Frozen while overloaded, so that a long overload
  // does not become the norm.
  Duration baseline() const noexcept { return Duration(baseline_.load(std::memory_order_relaxed)); }

 private:
  void record(Outcome outcome, Instant started, Instant now) noexcept;
  // With lock_ held:
  void end_window(Instant now) noexcept;
  double next_limit(double limit, double latency) noexcept;

  const AdaptiveLimitSettings settings_;
  EventQueue* const events_;
  std::atomic<std::uint32_t> limit_;
  std::atomic<std::uint32_t> in_flight_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<Duration::rep> baseline_{0};

  ShortLock lock_;
  Instant window_start_;
  double exact_limit_;
  double latency_sum_ = 0;
  std::uint32_t samples_ = 0;
  std::uint32_t failures_ = 0;
  std::uint32_t most_in_flight_ = 0;
};

}  // namespace spillway::resilience
