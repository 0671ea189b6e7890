#include "runtime/loop.h"

#include <time.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>

namespace spillway::runtime {

namespace asio = boost::asio;

struct Loop::State {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> keep{context.get_executor()};
  std::optional<asio::signal_set> signals;
  std::function<void(int)> on_signal;

  void wait_for_signal() {
    signals->async_wait([this](const boost::system::error_code& error, int number) {
      if (error) return;
      on_signal(number);
      wait_for_signal();
    });
  }
};

Loop::Loop() : state_(std::make_unique<State>()) {}
Loop::~Loop() = default;

void Loop::run() { state_->context.run(); }
void Loop::stop() { state_->context.stop(); }
void Loop::post(Action action) { asio::post(state_->context, std::move(action)); }
asio::io_context& Loop::context() { return state_->context; }

base::Instant Loop::now() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return base::Instant(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

void Loop::on_signals(std::initializer_list<int> signals, std::function<void(int)> action) {
  state_->signals.emplace(state_->context);
  for (int number : signals) state_->signals->add(number);
  state_->on_signal = std::move(action);
  state_->wait_for_signal();
}

struct Timer::State {
  State(asio::io_context& context, std::function<void()> run) : timer(context), action(std::move(run)) {}
  asio::steady_timer timer;
  std::function<void()> action;
};

Timer::Timer(Loop& loop, std::function<void()> action)
    : state_(std::make_shared<State>(loop.context(), std::move(action))) {}
Timer::~Timer() { cancel(); }

void Timer::at(base::Instant when) {
  state_->timer.expires_after(base::elapsed(Loop::now(), when));
  state_->timer.async_wait([weak = std::weak_ptr(state_)](const boost::system::error_code& error) {
    if (auto state = weak.lock(); state && !error) state->action();
  });
}

void Timer::cancel() { state_->timer.cancel(); }

struct Watch::State : std::enable_shared_from_this<Watch::State> {
  State(asio::io_context& context, int fd, std::function<void()> run)
      : descriptor(context, fd), action(std::move(run)) {}
  asio::posix::stream_descriptor descriptor;
  std::function<void()> action;
  bool closed = false;

  void wait() {
    descriptor.async_wait(asio::posix::descriptor_base::wait_read,
                          [self = shared_from_this()](const boost::system::error_code& error) {
                            if (error || self->closed) return;
                            self->action();
                            if (!self->closed) self->wait();
                          });
  }
};

Watch::Watch(Loop& loop, int fd, std::function<void()> action)
    : state_(std::make_shared<State>(loop.context(), fd, std::move(action))) {
  state_->wait();
}

Watch::~Watch() {
  state_->closed = true;
  state_->descriptor.release();
}

}  // namespace spillway::runtime
