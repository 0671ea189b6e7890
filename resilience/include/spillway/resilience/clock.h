// The two clocks that come with the library: the machine's, and one that a test turns by hand.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "spillway/resilience/time.h"

namespace spillway::resilience {

// std::chrono::steady_clock and a real sleep. Stateless; any thread.
struct SystemClock {
  Instant now() const noexcept { return to_instant(std::chrono::steady_clock::now()); }
  void sleep(Duration d) const { std::this_thread::sleep_for(d); }
  // Ends early when somebody asks to stop.
  void sleep(Duration d, const std::stop_token& stop) const {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_for(lock, stop, d, [] { return false; });
  }
};

// Stands still until told otherwise; sleeping moves it at once. Any thread may read and move it.
class ManualClock {
 public:
  explicit ManualClock(Instant start = Instant{}) : now_(start.time_since_epoch().count()) {}

  Instant now() const noexcept { return Instant(Duration(now_.load(std::memory_order_acquire))); }
  void sleep(Duration d) noexcept { now_.fetch_add(d.count(), std::memory_order_acq_rel); }
  // What waiting for a slot means here: time passes until somebody decides, or until the wait is over.
  template <typename Waiter>
  void park(Waiter& waiter) noexcept {
    set(waiter.until());
  }
  void set(Instant at) noexcept { now_.store(at.time_since_epoch().count(), std::memory_order_release); }

 private:
  std::atomic<Duration::rep> now_;
};

}  // namespace spillway::resilience
