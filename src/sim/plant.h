// Everything beyond the relay: the path, the consumers with their timeouts and retries, and the downstream.
#pragma once

#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include "sim/downstream.h"
#include "sim/random.h"
#include "sim/scenario.h"

namespace spillway::sim {

enum class Traffic : std::uint8_t { kLive, kBacklog, kForeign };

struct Answer {
  double at = 0;
  Traffic traffic = Traffic::kLive;
  double latency_s = 0;     // from arrival downstream
  double in_service_s = 0;  // without the wait before it
  bool good = false;        // in time and without error
  bool refused = false;     // 503 or 429, at once
  std::optional<double> retry_after_s = {};
};

class PlantListener {
 public:
  virtual ~PlantListener() = default;
  virtual void on_answer(const Answer& answer) = 0;
  // A consumer gave up on a backlog event: it waits for redelivery.
  virtual void on_returned(double at) = 0;
};

class Plant {
 public:
  Plant(const Scenario& scenario, Random& random, PlantListener& listener);

  void send(double now, Traffic traffic);
  double next_event() const;
  void step();  // the one at next_event()
  void change(double now, const Change& change) { downstream_->change(now, change); }
  void pause(double now, double seconds) { downstream_->pause(now, seconds); }

  std::size_t waiting_in_topic() const { return scenario_.queue_in_topic ? downstream_->waiting() : 0; }
  double attempts() const { return attempts_; }  // arrivals downstream, foreign ones apart

 private:
  struct Call {
    double arrived;
    Traffic traffic;
    std::uint8_t attempt;
    bool answered;
    bool given_up;
    bool watched;  // its timeout is in timeouts_
  };
  struct Arrival {
    double at;
    Traffic traffic;
    std::uint8_t attempt;
    bool operator>(const Arrival& other) const { return at > other.at; }
  };

  CallId open(double now, Traffic traffic, std::uint8_t attempt);
  void close(CallId id);
  bool may_retry(const Call& call) const;
  void arrive(const Arrival& arrival);
  bool bucket_empty(double now);
  void refuse(const Arrival& arrival, std::optional<double> retry_after_s);
  void answer();
  void time_out();

  const Scenario& scenario_;
  Random& random_;
  PlantListener& listener_;
  std::unique_ptr<Downstream> downstream_;
  std::vector<Call> calls_;
  std::vector<CallId> free_;
  std::deque<Arrival> path_;     // in order: the path takes the same time for all
  std::deque<CallId> timeouts_;  // in order: so does the timeout
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> retries_;
  double attempts_ = 0;
  double bucket_tokens_ = 0;
  double bucket_at_ = 0;
};

}  // namespace spillway::sim
