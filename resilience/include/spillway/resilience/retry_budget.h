// Bounds retries to a share of successes, so that a fault is not multiplied by those who suffer it.
// Accounting after gRPC A6 retry throttling, kept in whole thousandths.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "spillway/resilience/setting_error.h"

namespace spillway::resilience {

struct RetryBudgetSettings {
  std::uint32_t capacity = 100;  // retries; 1 .. 1,000,000
  double ratio = 0.1;            // retries earned by one success; 0.001 .. 1, rounded to thousandths

  std::optional<SettingError> first_error() const;
};

// A balance of thousandths of a retry that starts half full. Any thread; lock-free.
class RetryBudget {
 public:
  static constexpr std::int64_t kUnit = 1000;  // the price of one retry

  // Throws InvalidSetting.
  explicit RetryBudget(RetryBudgetSettings settings = {});

  // A success: earns `ratio`, up to the capacity.
  void deposit() noexcept {
    std::int64_t balance = balance_.load(std::memory_order_relaxed);
    while (balance < capacity_ && !balance_.compare_exchange_weak(balance, std::min(balance + earning_, capacity_),
                                                                  std::memory_order_relaxed)) {
    }
  }

  // Pays for one retry, or refuses and leaves the balance alone.
  [[nodiscard]] bool withdraw() noexcept {
    std::int64_t balance = balance_.load(std::memory_order_relaxed);
    while (balance >= kUnit) {
      if (balance_.compare_exchange_weak(balance, balance - kUnit, std::memory_order_relaxed)) return true;
    }
    refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }

  // In thousandths: 0 .. capacity * 1000.
  std::int64_t balance() const noexcept { return balance_.load(std::memory_order_relaxed); }
  std::int64_t capacity() const noexcept { return capacity_; }
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

 private:
  std::int64_t capacity_;
  std::int64_t earning_;
  std::atomic<std::int64_t> balance_;
  std::atomic<std::uint64_t> refused_{0};
};

// One budget per dependency name: everybody who calls a dependency spends from the same one. Any thread. Look a budget
// up once and keep the reference; it lives as long as the collection.
class RetryBudgets {
 public:
  // Throws InvalidSetting.
  explicit RetryBudgets(RetryBudgetSettings settings = {}) : settings_(checked(settings)) {}

  RetryBudget& of(std::string_view dependency);

 private:
  RetryBudgetSettings settings_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<RetryBudget>, std::less<>> budgets_;
};

}  // namespace spillway::resilience
