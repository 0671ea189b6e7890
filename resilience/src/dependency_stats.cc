#include "spillway/resilience/dependency_stats.h"

#include <algorithm>

namespace spillway::resilience {

DependencyFigures DependencyStats::figures() const noexcept {
  const auto read = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
  DependencyFigures figures;
  std::ranges::transform(by_cause_, figures.by_cause.begin(), read);
  std::ranges::transform(by_duration_, figures.by_duration.begin(), read);
  figures.attempts = read(attempts_);
  figures.in_flight = read(in_flight_);
  figures.duration_sum_ns = read(duration_sum_ns_);
  return figures;
}

}  // namespace spillway::resilience
