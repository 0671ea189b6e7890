// A thread for calls that block, one after another.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace spillway::runtime {

class Worker {
 public:
  using Job = std::move_only_function<void()>;

  // The name shows in `top -H`; at most 15 characters.
  explicit Worker(std::string name);
  // Jobs that have not begun are dropped; the one that runs is waited for.
  ~Worker();

  void submit(Job job);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace spillway::runtime
