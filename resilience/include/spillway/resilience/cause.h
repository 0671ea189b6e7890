// Why a decision fell as it did. One list for all policies, so that logs, counters and tests name causes alike.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spillway::resilience {

enum class Cause : std::uint8_t {
  kNone,                // admitted, or a success
  kOperation,           // the operation's own error or exception
  kBreakerOpen,         // refused: open, the wait is not over
  kBreakerTrialsTaken,  // refused: half-open, all trial permits are out
  kBreakerForcedOpen,   // refused: somebody forced the breaker open
  kBulkheadFull,        // refused: no slot, and no place to wait for one
  kBulkheadTimeout,     // refused: waited, no slot came in time
  kRateLimited,         // refused: over the rate
  kConcurrencyLimited,  // refused: over the adaptive limit
  kBudgetExhausted,     // not retried: the retry budget is empty
  kShedPriority,        // refused: load is too high for this priority
  kShedDeadline,        // refused: the remaining time cannot be enough
  kShedQueueAge,        // refused: waited too long in an overloaded queue
  kExpiredBeforeStart,  // refused: the deadline had passed already
  kCancelled,           // the caller went away
  kDraining,            // refused: the gate is closed
  kDeadlineExceeded,    // the total deadline passed while the call ran
  kAttemptTimeout,      // one attempt took longer than it may
  kAttemptsExhausted,   // not retried: no attempts left
  kNoTimeLeft,          // not retried: the delay does not fit
  kNotRetryable,        // not retried: the error is final
  kNotIdempotent,       // not retried: the request may have been carried out
};
inline constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::kNotIdempotent) + 1;

// Stable snake_case names, fit for a metric label.
const char* to_string(Cause cause) noexcept;

// True for decisions taken about a call that did not run: they say nothing about the dependency, so a breaker counts
// them neither as success nor as failure and a retry does not repeat them.
constexpr bool is_refusal(Cause cause) noexcept { return cause >= Cause::kBreakerOpen && cause <= Cause::kDraining; }

}  // namespace spillway::resilience
