// A lock for sections of a few instructions on the hot path.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace spillway::resilience {

// One locked instruction to take and none to give back, which is half the price of a std::mutex that nobody contends.
// Whoever has to wait looks for a moment, then yields, then sleeps: a holder that was preempted gets its turn. Meets
// the standard's Lockable, so std::lock_guard takes it. Not recursive, not fair.
class ShortLock {
 public:
  void lock() noexcept {
    if (held_.exchange(true, std::memory_order_acquire)) lock_slowly();
  }
  bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  void lock_slowly() noexcept {
    constexpr int kLooks = 64, kYields = 64;
    for (int round = 0;; ++round) {
      if (!held_.load(std::memory_order_relaxed) && try_lock()) return;
      if (round < kLooks) continue;
      if (round < kLooks + kYields) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }

  std::atomic<bool> held_{false};
};

}  // namespace spillway::resilience
