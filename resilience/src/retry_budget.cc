#include "spillway/resilience/retry_budget.h"

#include <cmath>

namespace spillway::resilience {

std::optional<SettingError> RetryBudgetSettings::first_error() const {
  return SettingCheck("retry_budget")
      .whole("capacity", capacity, 1, 1'000'000)
      .real("ratio", ratio, 0.001, 1.0)
      .first_error();
}

RetryBudget::RetryBudget(RetryBudgetSettings settings)
    : capacity_(checked(settings).capacity * kUnit),
      earning_(std::llround(settings.ratio * static_cast<double>(kUnit))),
      balance_(capacity_ / 2) {}

RetryBudget& RetryBudgets::of(std::string_view dependency) {
  const std::lock_guard lock(mutex_);
  auto found = budgets_.find(dependency);
  if (found == budgets_.end()) {
    found = budgets_.emplace(std::string(dependency), std::make_unique<RetryBudget>(settings_)).first;
  }
  return *found->second;
}

}  // namespace spillway::resilience
