#include "sim/sharing.h"

#include <algorithm>

#include "sim/fifo.h"

namespace spillway::sim {

SharingDownstream::SharingDownstream(const DownstreamSpec& spec, Random& random) : spec_(spec), random_(random) {
  work_left_ = random_.exponential(1);
}

double SharingDownstream::rate() const {
  const double n = static_cast<double>(jobs_.size());
  const double alone = n / spec_.service_mean_s;
  if (spec_.kind == DownstreamKind::kSharing) return factor_ * std::min(alone, spec_.peak_rate);
  return factor_ * alone / (1 + spec_.contention_a * (n - 1) + spec_.contention_b * n * (n - 1));
}

void SharingDownstream::advance(double now) {
  const double from = std::max(now_, paused_until_);
  if (!jobs_.empty() && now > from) work_left_ = std::max(0.0, work_left_ - (now - from) * rate());
  now_ = now;
}

bool SharingDownstream::arrive(double now, CallId call) {
  advance(now);
  if (static_cast<double>(jobs_.size()) >= spec_.accept_limit) return false;
  jobs_.push_back({call, now});
  return true;
}

double SharingDownstream::next_completion() const {
  if (jobs_.empty()) return kNever;
  return std::max(now_, paused_until_) + work_left_ / rate();
}

// The service is memoryless: each of those in service is equally likely to be the one.
Completion SharingDownstream::complete() {
  now_ = next_completion();
  const std::size_t i = random_.below(jobs_.size());
  const Job done = jobs_[i];
  jobs_[i] = jobs_.back();
  jobs_.pop_back();
  work_left_ = random_.exponential(1);
  return {done.call, now_ - done.since};
}

void SharingDownstream::change(double now, const Change& change) {
  advance(now);
  if (change.factor) factor_ = *change.factor;
  if (change.service_mean_s) spec_.service_mean_s = *change.service_mean_s;
}

void SharingDownstream::pause(double now, double seconds) {
  advance(now);
  paused_until_ = std::max(paused_until_, now + seconds);
}

std::unique_ptr<Downstream> make_downstream(const DownstreamSpec& spec, Random& random) {
  if (spec.kind == DownstreamKind::kFifo) return std::make_unique<FifoDownstream>(spec, random);
  return std::make_unique<SharingDownstream>(spec, random);
}

}  // namespace spillway::sim
