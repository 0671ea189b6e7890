#include "spillway/resilience/hedge.h"

#include <algorithm>

namespace spillway::resilience {
namespace {

constexpr Duration kShortest = std::chrono::microseconds(1);
constexpr Duration kLongest = std::chrono::hours(1);

}  // namespace

std::optional<SettingError> HedgeSettings::first_error() const {
  return SettingCheck("hedge").time("delay", delay, kShortest, kLongest).whole("hedges", hedges, 1, 10).first_error();
}

Hedge::Hedge(HedgeSettings settings, RetryBudget& budget)
    : settings_(checked(settings)), budget_(&budget), delay_(settings.delay.count()) {}

void Hedge::set_delay(Duration delay) noexcept {
  delay_.store(std::clamp(delay, kShortest, kLongest).count(), std::memory_order_relaxed);
}

Cause Hedge::try_send_another(std::uint32_t sent, bool idempotent) noexcept {
  if (!idempotent) return Cause::kNotIdempotent;
  if (sent > settings_.hedges) return Cause::kAttemptsExhausted;
  if (!budget_->withdraw()) return Cause::kBudgetExhausted;
  sent_.fetch_add(1, std::memory_order_relaxed);
  return Cause::kNone;
}

}  // namespace spillway::resilience
