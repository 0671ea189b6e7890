// k servers behind one queue.
#pragma once

#include <deque>
#include <vector>

#include "sim/downstream.h"

namespace spillway::sim {

class FifoDownstream final : public Downstream {
 public:
  FifoDownstream(const DownstreamSpec& spec, Random& random);

  bool arrive(double now, CallId call) override;
  double next_completion() const override;
  Completion complete() override;
  void change(double now, const Change& change) override;
  void pause(double now, double seconds) override;
  std::size_t waiting() const override { return queue_.size(); }

 private:
  struct InService {
    double until;
    CallId call;
    double started;
    bool operator<(const InService& other) const { return until > other.until; }  // the earliest on top of the heap
  };

  double service_time();
  void start(double now, CallId call);
  void fill_servers(double now);

  DownstreamSpec spec_;
  Random& random_;
  std::size_t servers_;
  double mean_s_;
  double paused_until_ = 0;
  std::vector<InService> in_service_;  // a heap
  std::deque<CallId> queue_;
};

}  // namespace spillway::sim
