// Whether and when to try once more.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "spillway/resilience/backoff.h"
#include "spillway/resilience/cause.h"
#include "spillway/resilience/deadline.h"
#include "spillway/resilience/outcome.h"
#include "spillway/resilience/random.h"
#include "spillway/resilience/retry_budget.h"

namespace spillway::resilience {

struct RetrySettings {
  std::uint32_t attempts = 3;  // the first one included; 1 .. 10,000
  BackoffSettings backoff{};
  Duration total_time = kLongestTime;  // from the start of the call to the start of its last attempt; 1 ns .. 10 years

  std::optional<SettingError> first_error() const;
};

// Where a call stands after a failed attempt.
struct RetryQuestion {
  Judgement judgement{};
  bool idempotent = false;
  std::uint32_t attempts = 1;  // made so far
  Instant started{};
  Instant now{};
  Deadline deadline{};
};

struct RetryAnswer {
  bool again = false;
  Duration delay{};            // before the next attempt
  Cause cause = Cause::kNone;  // why not again
};

// All checks but the budget, in their order: retryable and idempotent (or never sent), attempts, time. `u` in [0, 1).
// A failure that asks to wait is waited for at least that long.
RetryAnswer plan_retry(const RetrySettings& settings, const RetryQuestion& question, double u) noexcept;

// A retry policy for pipelines. Any thread, if `Uniform` (a callable that returns a number in [0, 1)) allows it, as
// Random does. The generator and the budget must outlive it; without a budget retries are bounded by attempts only.
template <typename Uniform = Random>
class Retry {
 public:
  // Throws InvalidSetting.
  Retry(RetrySettings settings, Uniform& uniform, RetryBudget* budget = nullptr)
      : settings_(checked(settings)), uniform_(&uniform), budget_(budget) {}

  // Withdraws from the budget exactly when the answer is to try again; a refusal by the budget comes before any sleep.
  RetryAnswer decide(const RetryQuestion& question) {
    RetryAnswer answer = plan_retry(settings_, question, (*uniform_)());
    if (answer.again && budget_ != nullptr && !budget_->withdraw()) answer = {.cause = Cause::kBudgetExhausted};
    return answer;
  }

  void succeeded() noexcept {
    if (budget_ != nullptr) budget_->deposit();
  }

 private:
  RetrySettings settings_;
  Uniform* uniform_;
  RetryBudget* budget_;
};

// Reads an HTTP Retry-After value: whole seconds (held at 10 years) or an HTTP-date (IMF-fixdate), which `wall_now`
// turns into a delay, zero if it has passed. Anything else is as if the header were absent.
std::optional<Duration> parse_retry_after(std::string_view text, std::chrono::sys_seconds wall_now);

}  // namespace spillway::resilience
