// The thread that owns all control state: timers, signals, file descriptors and work posted from other threads.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>

#include "base/time.h"

namespace boost::asio {
class io_context;
}

namespace spillway::runtime {

class Loop {
 public:
  using Action = std::move_only_function<void()>;

  Loop();
  ~Loop();

  // Runs until `stop`. All callbacks come on the calling thread.
  void run();
  void stop();

  // From any thread.
  void post(Action action);

  // Time since boot, suspension included, so that a lease does not outlive a suspended machine.
  static base::Instant now();

  void on_signals(std::initializer_list<int> signals, std::function<void(int)> action);

  boost::asio::io_context& context();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Fires once per `at`; a new `at` replaces the old one. Loop thread only.
class Timer {
 public:
  Timer(Loop& loop, std::function<void()> action);
  ~Timer();

  void at(base::Instant when);
  void after(base::Duration delay) { at(Loop::now() + delay); }
  void cancel();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Calls `action` whenever the descriptor has something to read. The descriptor stays the caller's. Loop thread only.
class Watch {
 public:
  Watch(Loop& loop, int fd, std::function<void()> action);
  ~Watch();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace spillway::runtime
