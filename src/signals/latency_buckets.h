// How many answers took at most how long: the buckets of a histogram, of several series or targets together.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace spillway::signals {

// Upper bound in seconds → how many answers took at most that long; bounds rise, the last is +Inf.
using CumulativeCounts = std::vector<std::pair<double, double>>;
inline constexpr double kNoBound = std::numeric_limits<double>::infinity();  // of the last bucket

class LatencyBuckets {
 public:
  // Where the bounds differ only the common ones stay: cumulative counts are exact there, and nowhere else.
  // `scale` multiplies the counts. A count below that of a smaller bound, as a torn read leaves it, is raised to it.
  void add(const CumulativeCounts& counts, double scale = 1);

  double total() const { return counts_.empty() ? 0 : counts_.back().second; }
  // Some bound is finite.
  bool usable() const { return counts_.size() > 1; }
  double last_bound() const { return usable() ? counts_[counts_.size() - 2].first : 0; }

  struct Quantile {
    double seconds = 0;
    bool beyond = false;  // above the last finite bound, which is what `seconds` then says: the truth is larger
  };
  // Linear within the bucket, the first one from 0, as Prometheus's histogram_quantile. Empty where nothing is counted.
  std::optional<Quantile> quantile(double q) const;

  // By the middle of each bucket, and the last finite bound for what lies above it.
  std::optional<double> rough_mean() const;

 private:
  CumulativeCounts counts_;
};

}  // namespace spillway::signals
