#include "signals/latency_sketch.h"

#include <algorithm>
#include <cmath>

namespace spillway::signals {
namespace {

constexpr double kGrowth = 1.01;
constexpr double kSmallestS = 1e-6;
constexpr double kLargestS = 86'400;

int cell_of(double latency_s) {
  return static_cast<int>(
      std::floor(std::log(std::clamp(latency_s, kSmallestS, kLargestS) / kSmallestS) / std::log(kGrowth)));
}

}  // namespace

void LatencySketch::add(double latency_s, double count) {
  cells_[cell_of(latency_s)] += count;
  count_ += count;
  sum_s_ += latency_s * count;
  largest_s_ = std::max(largest_s_, latency_s);
}

void LatencySketch::clear() { *this = {}; }

std::optional<double> LatencySketch::mean_s() const {
  if (count_ <= 0) return std::nullopt;
  return sum_s_ / count_;
}

std::optional<double> LatencySketch::quantile_s(double q) const {
  if (count_ <= 0) return std::nullopt;
  double seen = 0;
  for (const auto& [cell, count] : cells_) {
    seen += count;
    if (seen >= q * count_) return std::min(largest_s_, kSmallestS * std::pow(kGrowth, cell + 1));
  }
  return largest_s_;
}

}  // namespace spillway::signals
