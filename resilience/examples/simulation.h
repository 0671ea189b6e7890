// Virtual time for the reproductions: things happen in the order of their time, and nothing waits for a real clock.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "spillway/resilience/random.h"
#include "spillway/resilience/time.h"

namespace spillway::resilience::examples {

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : random(seed) {}

  Instant now() const { return now_; }
  void after(Duration delay, std::function<void()> what) { events_.push({now_ + delay, order_++, std::move(what)}); }
  void run_until(Instant end) {
    while (!events_.empty() && events_.top().at <= end) {
      Event event = events_.top();
      events_.pop();
      now_ = event.at;
      event.what();
    }
    now_ = end;
  }

  // Calls `arrive` at random times (a Poisson process), `rate(now)` of them a second, until the run ends.
  void arrivals(std::function<double(Instant)> rate, std::function<void()> arrive) {
    const double gap = -std::log(1.0 - random()) / rate(now_);
    after(Duration(static_cast<Duration::rep>(gap * 1e9)), [this, rate, arrive] {
      arrive();
      arrivals(rate, arrive);
    });
  }

  Random random;

 private:
  struct Event {
    Instant at;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const Event& other) const { return std::pair(other.at, other.order) < std::pair(at, order); }
  };
  Instant now_{};
  std::uint64_t order_ = 0;
  std::priority_queue<Event> events_;
};

// A server with a fixed number of workers and a first-come-first-served queue without a bound.
class Server {
 public:
  struct Job {
    std::function<bool()> accept;     // asked when a worker is free; false: the job is dropped at once
    std::function<Duration()> start;  // begins the work and says how long it takes
    std::function<void()> done;
  };

  Server(Simulation& simulation, int workers) : simulation_(simulation), free_(workers) {}

  void submit(Job job) {
    queue_.push_back(std::move(job));
    work();
  }
  std::size_t waiting() const { return queue_.size(); }

 private:
  void work() {
    while (free_ > 0 && !queue_.empty()) {
      Job job = std::move(queue_.front());
      queue_.pop_front();
      if (!job.accept()) continue;
      --free_;
      simulation_.after(job.start(), [this, done = std::move(job.done)] {
        ++free_;
        done();
        work();
      });
    }
  }

  Simulation& simulation_;
  int free_;
  std::deque<Job> queue_;
};

constexpr Instant second(std::int64_t s) { return Instant(std::chrono::seconds(s)); }

}  // namespace spillway::resilience::examples
