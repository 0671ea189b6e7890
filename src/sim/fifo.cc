#include "sim/fifo.h"

#include <algorithm>

namespace spillway::sim {

FifoDownstream::FifoDownstream(const DownstreamSpec& spec, Random& random)
    : spec_(spec), random_(random), servers_(static_cast<std::size_t>(spec.servers)), mean_s_(spec.service_mean_s) {}

double FifoDownstream::service_time() {
  switch (spec_.service) {
    case ServiceKind::kLognormal: return random_.lognormal(mean_s_, spec_.service_sigma);
    case ServiceKind::kBimodal: {
      const double fast = mean_s_ / (1 + spec_.slow_share * (spec_.slow_factor - 1));
      return random_.exponential(random_.uniform() < spec_.slow_share ? fast * spec_.slow_factor : fast);
    }
    case ServiceKind::kExponential: break;
  }
  return random_.exponential(mean_s_);
}

void FifoDownstream::start(double now, CallId call) {
  const double from = std::max(now, paused_until_);
  in_service_.push_back({from + service_time(), call, now});
  std::push_heap(in_service_.begin(), in_service_.end());
}

bool FifoDownstream::arrive(double now, CallId call) {
  if (static_cast<double>(in_service_.size() + queue_.size()) >= spec_.accept_limit) return false;
  if (in_service_.size() < servers_) {
    start(now, call);
  } else {
    queue_.push_back(call);
  }
  return true;
}

double FifoDownstream::next_completion() const { return in_service_.empty() ? kNever : in_service_.front().until; }

Completion FifoDownstream::complete() {
  std::pop_heap(in_service_.begin(), in_service_.end());
  const InService done = in_service_.back();
  in_service_.pop_back();
  fill_servers(done.until);
  return {done.call, done.until - done.started};
}

void FifoDownstream::fill_servers(double now) {
  while (in_service_.size() < servers_ && !queue_.empty()) {
    start(now, queue_.front());
    queue_.pop_front();
  }
}

// Servers that go finish what they have first.
void FifoDownstream::change(double now, const Change& change) {
  if (change.service_mean_s) mean_s_ = *change.service_mean_s;
  if (change.servers) servers_ = static_cast<std::size_t>(*change.servers);
  fill_servers(now);
}

void FifoDownstream::pause(double now, double seconds) {
  paused_until_ = std::max(paused_until_, now + seconds);
  for (InService& s : in_service_) s.until += seconds;  // keeps the heap's order
}

}  // namespace spillway::sim
