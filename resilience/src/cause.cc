#include "spillway/resilience/cause.h"

namespace spillway::resilience {

const char* to_string(Cause cause) noexcept {
  switch (cause) {
    case Cause::kNone: return "none";
    case Cause::kOperation: return "operation";
    case Cause::kBreakerOpen: return "breaker_open";
    case Cause::kBreakerTrialsTaken: return "breaker_trials_taken";
    case Cause::kBreakerForcedOpen: return "breaker_forced_open";
    case Cause::kBulkheadFull: return "bulkhead_full";
    case Cause::kBulkheadTimeout: return "bulkhead_timeout";
    case Cause::kRateLimited: return "rate_limited";
    case Cause::kConcurrencyLimited: return "concurrency_limited";
    case Cause::kBudgetExhausted: return "budget_exhausted";
    case Cause::kShedPriority: return "shed_priority";
    case Cause::kShedDeadline: return "shed_deadline";
    case Cause::kShedQueueAge: return "shed_queue_age";
    case Cause::kExpiredBeforeStart: return "expired_before_start";
    case Cause::kCancelled: return "cancelled";
    case Cause::kDraining: return "draining";
    case Cause::kDeadlineExceeded: return "deadline_exceeded";
    case Cause::kAttemptTimeout: return "attempt_timeout";
    case Cause::kAttemptsExhausted: return "attempts_exhausted";
    case Cause::kNoTimeLeft: return "no_time_left";
    case Cause::kNotRetryable: return "not_retryable";
    case Cause::kNotIdempotent: return "not_idempotent";
  }
  return "unknown";
}

}  // namespace spillway::resilience
