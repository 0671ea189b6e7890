// Counts by bucket, in seconds. Plain numbers: the owner publishes them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/time.h"

namespace spillway::relay {

template <std::size_t N>
class Histogram {
 public:
  constexpr explicit Histogram(const std::array<double, N>& upper_bounds) : bounds_(upper_bounds) {}

  void add(base::Duration value) {
    const double v = base::seconds(value);
    ++counts_[static_cast<std::size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), v) - bounds_.begin())];
    sum_ += v;
  }

  // Of the same bounds.
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    sum_ += other.sum_;
  }

  std::span<const double> bounds() const { return bounds_; }
  // One more than the bounds: the last counts what is above them all.
  std::span<const std::uint64_t> counts() const { return counts_; }
  double sum() const { return sum_; }

 private:
  std::array<double, N> bounds_;
  std::array<std::uint64_t, N + 1> counts_{};
  double sum_ = 0;
};

}  // namespace spillway::relay
