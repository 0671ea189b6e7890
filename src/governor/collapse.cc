#include "governor/collapse.h"

#include <algorithm>

#include "governor/reading.h"

namespace spillway::governor {

namespace {

constexpr double kEnough = 20;
constexpr double kCollapseErrors = 0.25;
constexpr std::size_t kMedianOf = 4;
constexpr std::size_t kProbeWindows = 3;

bool silent(double completions, double sent) { return sent >= kEnough && completions <= kSilence * sent; }

}  // namespace

void CollapseWatch::on_window(const Window& w) {
  completions_.push_back(w.completions);
  if (completions_.size() > kMedianOf) completions_.pop_front();
  const bool enough = std::max(w.completions, w.sent_earlier) >= kEnough;
  const bool late = enough && w.error_ratio > kCollapseErrors && w.p99_s >= w.latency_ceiling_s;
  late_ = late ? late_ + w.windows : 0;
  silent_ = silent(w.completions, w.sent_earlier) ? silent_ + w.windows : 0;
  const bool healthy = w.error_ratio < kHealthyErrors && w.mean_s < well_below_s(w.latency_ceiling_s, w.base_mean_s);
  healthy_ = healthy ? healthy_ + w.windows : 0;
  if (!healthy) {
    probes_.clear();
    return;
  }
  probes_.push_back({w.mean_s, w.p99_s, w.completions * w.windows});
  if (probes_.size() > kProbeWindows) probes_.pop_front();
}

void CollapseWatch::on_silence(double windows, double sent_earlier) {
  silent_ = silent(0, sent_earlier) ? silent_ + windows : 0;
  healthy_ = 0;
}

double CollapseWatch::median_completions() const {
  if (completions_.empty()) return 0;
  std::vector<double> sorted(completions_.begin(), completions_.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

CollapseWatch::Probes CollapseWatch::probes() const {
  Probes all{0, 0, 0};
  for (const Probes& p : probes_) {
    all.mean_s += p.mean_s * p.count;
    all.p99_s = std::max(all.p99_s, p.p99_s);
    all.count += p.count;
  }
  if (all.count > 0) all.mean_s /= all.count;
  return all;
}

void CollapseWatch::start_hold() {
  healthy_ = 0;
  probes_.clear();
}

}  // namespace spillway::governor
