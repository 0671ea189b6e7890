// Rate, errors and duration of one dependency, in the form a metrics exporter reads.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>

#include "spillway/resilience/cause.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience {

// A copy of the figures; taken while calls go on, its parts may differ by the calls of that moment.
struct DependencyFigures {
  // Calls ended, by what ended them: kNone are successes, kOperation the dependency's own failures.
  std::array<std::uint64_t, kCauses> by_cause{};
  std::uint64_t attempts = 0;
  std::uint64_t in_flight = 0;
  // Calls whose duration in nanoseconds needs i bits: bucket i holds up to 2^i - 1 ns.
  std::array<std::uint64_t, 65> by_duration{};
  std::uint64_t duration_sum_ns = 0;
};

// Any thread; relaxed counters only. Give it to a pipeline as its first stage.
class DependencyStats {
 public:
  explicit DependencyStats(std::string dependency) : dependency_(std::move(dependency)) {}

  const std::string& dependency() const noexcept { return dependency_; }

  void started() noexcept { in_flight_.fetch_add(1, std::memory_order_relaxed); }
  void ended(Cause cause, std::uint32_t attempts, Duration took) noexcept {
    const auto ns = static_cast<std::uint64_t>(took > Duration::zero() ? took.count() : 0);
    in_flight_.fetch_sub(1, std::memory_order_relaxed);
    by_cause_[static_cast<std::size_t>(cause)].fetch_add(1, std::memory_order_relaxed);
    attempts_.fetch_add(attempts, std::memory_order_relaxed);
    by_duration_[static_cast<std::size_t>(std::bit_width(ns))].fetch_add(1, std::memory_order_relaxed);
    duration_sum_ns_.fetch_add(ns, std::memory_order_relaxed);
  }

  DependencyFigures figures() const noexcept;

 private:
  std::string dependency_;
  std::array<std::atomic<std::uint64_t>, kCauses> by_cause_{};
  std::atomic<std::uint64_t> attempts_{0};
  std::atomic<std::uint64_t> in_flight_{0};
  std::array<std::atomic<std::uint64_t>, 65> by_duration_{};
  std::atomic<std::uint64_t> duration_sum_ns_{0};
};

}  // namespace spillway::resilience
