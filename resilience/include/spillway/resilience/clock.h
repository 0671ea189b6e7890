// The two clocks that come with the library: the machine's, and one that a test turns by hand.
#pragma once

#include <atomic>
#include <thread>

#include "spillway/resilience/time.h"

namespace spillway::resilience {

// std::chrono::steady_clock and a real sleep. Stateless; any thread.
struct SystemClock {
  Instant now() const noexcept { return to_instant(std::chrono::steady_clock::now()); }
  void sleep(Duration d) const { std::this_thread::sleep_for(d); }
};

// Stands still until told otherwise; sleeping moves it at once. Any thread may read and move it.
class ManualClock {
 public:
  explicit ManualClock(Instant start = Instant{}) : now_(start.time_since_epoch().count()) {}

  Instant now() const noexcept { return Instant(Duration(now_.load(std::memory_order_acquire))); }
  void sleep(Duration d) noexcept { now_.fetch_add(d.count(), std::memory_order_acq_rel); }
  void set(Instant at) noexcept { now_.store(at.time_since_epoch().count(), std::memory_order_release); }

 private:
  std::atomic<Duration::rep> now_;
};

}  // namespace spillway::resilience
