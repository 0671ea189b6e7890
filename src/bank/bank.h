// The stand-in bank on the wall clock: a downstream whose capacity is known, that can be changed, stopped and measured.
//
// It runs on a thread of its own. Every function may be called from any thread; callbacks come on the bank's thread and
// must not block it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bank/metrics_endpoint.h"
#include "base/time.h"
#include "sim/scenario.h"

namespace spillway::bank {

enum class Outcome : std::uint8_t { kDone, kTimedOut, kRefused };

// A call whose work is done, or that was refused.
struct Answer {
  base::Instant at;  // by steady_clock
  std::uint64_t tag = 0;
  base::Duration latency{};
  Outcome outcome = Outcome::kDone;  // kTimedOut: done after its caller had given up
};

struct BankOptions {
  sim::DownstreamSpec downstream;  // 100 servers of 50 ms, exponential, unless told otherwise
  std::uint64_t seed = 1;
  int targets = 1;  // metrics endpoints; calls go to them in turn
  // Of every answer, before the caller's own callback.
  std::function<void(const Answer&)> on_answer = {};
};

struct BankFigures {
  std::int64_t calls = 0;
  std::int64_t done = 0;  // in time
  std::int64_t late = 0;
  std::int64_t refused = 0;
  std::int64_t waiting = 0;
  std::int64_t in_service = 0;
};

class Bank {
 public:
  // Throws std::runtime_error where no port is free.
  explicit Bank(BankOptions options);
  // Calls that are open are never answered.
  ~Bank();
  Bank(const Bank&) = delete;
  Bank& operator=(const Bank&) = delete;

  // `callback` is called once: when the work is done, or when `timeout` has passed without that.
  void call(std::uint64_t tag, base::Duration timeout, std::function<void(Outcome)> callback);

  void set_servers(int servers);
  void set_service(std::chrono::duration<double> mean);
  void change(const sim::Change& change);
  // Until resume(): accepts work and completes nothing.
  void stop();
  void resume();

  // Of one target, from 0.
  void set_fault(int target, EndpointFault fault);
  std::vector<std::string> metrics_urls() const;

  BankFigures figures() const;

 private:
  struct Floor;
  std::unique_ptr<Floor> floor_;
};

}  // namespace spillway::bank
