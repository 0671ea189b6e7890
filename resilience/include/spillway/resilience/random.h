// A seeded source of uniform numbers that threads may share without a lock.
#pragma once

#include <atomic>
#include <cstdint>

namespace spillway::resilience {

// SplitMix64 (Steele, Lea, Flood 2014) over an atomic counter: one seed gives one sequence; any thread may draw from
// it, and two threads never draw the same element. Not for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  // 64 uniform bits.
  std::uint64_t bits() noexcept {
    std::uint64_t z = state_.fetch_add(kStep, std::memory_order_relaxed) + kStep;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, 1).
  double operator()() noexcept { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;
  std::atomic<std::uint64_t> state_;
};

}  // namespace spillway::resilience
