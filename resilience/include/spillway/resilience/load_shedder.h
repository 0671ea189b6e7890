// Refuses early what would fail late: by priority under load, by a deadline that cannot be met, by the age of the
// queue. Queue age after CoDel (Nichols, Jacobson 2012) in the form for request queues (Maurer, "Fail at Scale", 2015).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "spillway/resilience/cause.h"
#include "spillway/resilience/deadline.h"
#include "spillway/resilience/setting_error.h"
#include "spillway/resilience/short_lock.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

struct ShedSettings {
  // From this load on (per cent) requests of class 0, 1, … are refused; 1 .. 1,000 each, never rising with the class.
  std::array<std::uint32_t, 4> shed_at_percent{100, 90, 75, 60};
  Duration queue_target = std::chrono::milliseconds(5);      // an age that a healthy queue reaches; 1 us .. 1 h
  Duration queue_interval = std::chrono::milliseconds(100);  // above target for so long is overload; target .. 1 h

  std::optional<SettingError> first_error() const;
};

struct ShedRequest {
  Instant now{};
  Instant queued_since{};  // when it came; `now` if it did not wait
  Deadline deadline{};
  std::uint32_t priority = 0;      // 0 is the most important; beyond the last class counts as the last
  std::uint32_t load_percent = 0;  // of the server: slots in use and waiting, in per cent of the slots
};

// Any thread; one short lock a decision.
class LoadShedder {
 public:
  // Throws InvalidSetting.
  explicit LoadShedder(ShedSettings settings);

  // kNone, or one of kExpiredBeforeStart, kShedDeadline, kShedQueueAge, kShedPriority, checked in this order.
  Cause admit(const ShedRequest& request) noexcept;
  // How long a request took once started: the deadline check expects the next to take as long (moving average, 1/8).
  void served(Duration took) noexcept;

  Duration expected_service() const noexcept { return Duration(expected_.load(std::memory_order_relaxed)); }
  bool overloaded() const noexcept { return overloaded_.load(std::memory_order_relaxed); }
  std::uint64_t shed() const noexcept { return shed_.load(std::memory_order_relaxed); }

 private:
  Cause judge(const ShedRequest& request) noexcept;
  bool too_old(Duration age, Instant now) noexcept;

  const ShedSettings settings_;
  std::atomic<Duration::rep> expected_{0};
  std::atomic<bool> overloaded_{false};
  std::atomic<std::uint64_t> shed_{0};

  ShortLock lock_;
  Instant interval_end_{};
  Duration least_age_ = Duration::max();
};

}  // namespace spillway::resilience
