// A second request when the first is slow, paid from the retry budget. After Dean, Barroso, "The Tail at Scale" (2013).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "spillway/resilience/cause.h"
#include "spillway/resilience/retry_budget.h"
#include "spillway/resilience/setting_error.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

struct HedgeSettings {
  Duration delay = std::chrono::milliseconds(100);  // before each further request; 1 us .. 1 h. Use about the p95.
  std::uint32_t hedges = 1;                         // further requests at most; 1 .. 10

  std::optional<SettingError> first_error() const;
};

// Any thread. The budget must outlive it.
class Hedge {
 public:
  // Throws InvalidSetting.
  Hedge(HedgeSettings settings, RetryBudget& budget);

  // For a delay that follows a measured percentile; held to the range of the setting.
  void set_delay(Duration delay) noexcept;
  Duration delay() const noexcept { return Duration(delay_.load(std::memory_order_relaxed)); }
  std::uint32_t hedges() const noexcept { return settings_.hedges; }

  // What one call asks when `delay()` has passed without an answer. `sent` counts the requests so far, the first
  // included. kNone: send one more, it is paid for.
  Cause try_send_another(std::uint32_t sent, bool idempotent) noexcept;

  // The call's success earns for the budget.
  void succeeded() noexcept { budget_->deposit(); }
  std::uint64_t sent() const noexcept { return sent_.load(std::memory_order_relaxed); }

 private:
  const HedgeSettings settings_;
  RetryBudget* const budget_;
  std::atomic<Duration::rep> delay_;
  std::atomic<std::uint64_t> sent_{0};
};

}  // namespace spillway::resilience
