#include "governor/signal_pool.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace spillway::governor {

namespace {

constexpr double kFull = 200;
constexpr std::size_t kMostWindows = 8;

double median_p99(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

SignalPool::Summary SignalPool::add(double completions, double mean_s, double p99_s) {
  windows_.push_back({completions, mean_s * completions, p99_s});
  double n = 0;
  for (const Window& w : windows_) n += w.completions;
  while ((windows_.size() > 1 && n - windows_.front().completions >= kFull) || windows_.size() > kMostWindows) {
    n -= windows_.front().completions;
    windows_.pop_front();
  }
  double sum = 0;
  std::vector<double> p99s;
  for (const Window& w : windows_) {
    sum += w.latency_sum_s;
    p99s.push_back(w.p99_s);
  }
  const double mean = sum / n;
  return {.completions = n,
          .mean_s = mean,
          .p99_s = completions >= kFull ? p99_s : median_p99(std::move(p99s)),
          .standard_error = mean / std::sqrt(n),
          .full = n >= kFull};
}

}  // namespace spillway::governor
