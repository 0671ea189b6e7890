// Latencies of one window in bounded memory: exact number and mean, percentiles to 1 %.
#pragma once

#include <map>
#include <optional>

namespace spillway::signals {

class LatencySketch {
 public:
  // `count` answers of this latency each; seconds, >= 0.
  void add(double latency_s, double count = 1);
  void clear();

  double count() const { return count_; }
  std::optional<double> mean_s() const;
  std::optional<double> quantile_s(double q) const;

 private:
  // Cells grow by 1 %, from a microsecond to a day: at most some 2,600 of them.
  std::map<int, double> cells_;
  double count_ = 0;
  double sum_s_ = 0;
  double largest_s_ = 0;
};

}  // namespace spillway::signals
