// Services that go on writing while a backlog is let out: one event a transaction, at the times of a Poisson process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "recovery/backlog.h"
#include "sim/scenario.h"

namespace spillway::testing {

struct LiveWriterOptions {
  std::string uri;
  std::string topic;
  sim::LiveSpec live;             // rates from the writer's start
  BacklogSpec backlog;            // whose keys some of the events have
  double on_backlog_keys = 0.05;  // this share of the events
  std::int64_t other_keys = 20'000;
  std::uint64_t seed = 1;
  std::string type = "order.changed";
};

struct Commit {
  std::int64_t number = 0;  // of the live event
  std::int64_t at_ms = 0;   // Unix time, when the writer had its answer
  bool on_backlog_key = false;
};

class LiveWriter {
 public:
  // Begins at once. Each of its connections owns some of the keys, so that the number of a key's event grows in the
  // order of commits. A server that is away is waited for; what fell due meanwhile is written when it is back.
  explicit LiveWriter(LiveWriterOptions options);
  ~LiveWriter();

  // Ends; everything that was begun is committed.
  void finish();
  std::int64_t committed() const { return committed_; }
  // After finish().
  const std::vector<Commit>& commits() const { return commits_; }

 private:
  class Hand;

  void work(int number);

  LiveWriterOptions options_;
  std::chrono::steady_clock::time_point origin_;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<std::int64_t> committed_ = 0;
  std::atomic<bool> finish_ = false;
  std::mutex mutex_;
  std::vector<Commit> commits_;
  std::vector<std::thread> threads_;
};

}  // namespace spillway::testing
