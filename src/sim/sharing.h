// A downstream without a queue: everything it accepted is served at once, the total rate is a function of how much.
#pragma once

#include <vector>

#include "sim/downstream.h"

namespace spillway::sim {

// Processor sharing, X(N) = min(N / mean, peak), or contention, X(N) = (N / mean) / (1 + a (N-1) + b N (N-1)) (the
// universal scalability law, Gunther 1993), which falls again beyond its peak. Service times are exponential.
class SharingDownstream final : public Downstream {
 public:
  SharingDownstream(const DownstreamSpec& spec, Random& random);

  bool arrive(double now, CallId call) override;
  double next_completion() const override;
  Completion complete() override;
  void change(double now, const Change& change) override;
  void pause(double now, double seconds) override;
  std::size_t waiting() const override { return 0; }

 private:
  struct Job {
    CallId call;
    double since;
  };

  double rate() const;  // completions/s with what is in service now
  void advance(double now);

  DownstreamSpec spec_;
  Random& random_;
  double factor_ = 1;
  double now_ = 0;
  double work_left_ = 0;  // until the next completion, in units of 1 / rate
  double paused_until_ = 0;
  std::vector<Job> jobs_;
};

}  // namespace spillway::sim
