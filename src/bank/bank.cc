#include "bank/bank.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <future>
#include <thread>
#include <unordered_map>

#include "bank/clock.h"
#include "bank/tellers.h"

namespace spillway::bank {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

struct Bank::Floor {
  struct Target {
    explicit Target(asio::io_context& loop) : endpoint(loop, page) {}
    MetricsPage page;
    MetricsEndpoint endpoint;
  };
  struct Caller {
    std::uint64_t tag;
    std::function<void(Outcome)> callback;
  };

  explicit Floor(BankOptions given)
      : options(std::move(given)), tellers(options.downstream, options.seed), timer(loop), work(loop.get_executor()) {
    for (int i = 0; i < options.targets; ++i) targets.emplace_back(loop);
    tellers.advance(now());
    thread = std::thread([this] { loop.run(); });
  }

  ~Floor() {
    loop.stop();
    thread.join();
  }

  // Does something on the loop and waits for it.
  template <typename Function>
  auto ask(Function function) {
    std::packaged_task<decltype(function())()> task(std::move(function));
    auto answer = task.get_future();
    asio::post(loop, [&task] { task(); });
    return answer.get();
  }

  void call(std::uint64_t tag, base::Duration timeout, std::function<void(Outcome)> callback) {
    const Ticket ticket = next_ticket++;
    callers.emplace(ticket, Caller{tag, std::move(callback)});
    ++figures.calls;
    page_of(ticket).arrive();
    tellers.call(now(), ticket, timeout);
    tell();
  }

  MetricsPage& page_of(Ticket ticket) { return targets[ticket % targets.size()].page; }

  void tell() {
    for (const Happening& happening : tellers.take()) tell(happening);
    schedule();
  }

  void tell(const Happening& happening) {
    const auto caller = callers.find(happening.ticket);
    MetricsPage& page = page_of(happening.ticket);
    Outcome outcome = Outcome::kDone;
    switch (happening.kind) {
      case Happening::Kind::kAnswered:
        ++figures.done;
        page.observe(base::seconds(happening.latency), true);
        break;
      case Happening::Kind::kAnsweredLate:
        ++figures.late;
        page.observe(base::seconds(happening.latency), false);
        outcome = Outcome::kTimedOut;
        break;
      case Happening::Kind::kRefused:
        ++figures.refused;
        page.refuse();
        outcome = Outcome::kRefused;
        break;
      case Happening::Kind::kGivenUp: {
        const auto callback = std::exchange(caller->second.callback, {});
        return callback(Outcome::kTimedOut);
      }
    }
    const Caller known = std::move(caller->second);
    callers.erase(caller);
    if (options.on_answer) options.on_answer({happening.at, known.tag, happening.latency, outcome});
    if (known.callback) known.callback(outcome);
  }

  void schedule() {
    const auto next = tellers.next_event();
    if (!next || next == scheduled) return;
    scheduled = next;
    timer.expires_at(Clock::time_point(std::chrono::duration_cast<Clock::duration>(next->time_since_epoch())));
    timer.async_wait([this](boost::system::error_code cancelled) {
      if (cancelled) return;
      scheduled.reset();
      tellers.advance(now());
      tell();
    });
  }

  BankOptions options;
  asio::io_context loop;
  Tellers tellers;
  asio::steady_timer timer;
  asio::executor_work_guard<asio::io_context::executor_type> work;
  std::optional<base::Instant> scheduled;
  std::deque<Target> targets;
  std::unordered_map<Ticket, Caller> callers;
  Ticket next_ticket = 0;
  BankFigures figures;
  std::thread thread;
};

Bank::Bank(BankOptions options) : floor_(std::make_unique<Floor>(std::move(options))) {}
Bank::~Bank() = default;

void Bank::call(std::uint64_t tag, base::Duration timeout, std::function<void(Outcome)> callback) {
  asio::post(floor_->loop, [floor = floor_.get(), tag, timeout, callback = std::move(callback)]() mutable {
    floor->call(tag, timeout, std::move(callback));
  });
}

void Bank::set_servers(int servers) { change({.servers = servers}); }

void Bank::set_service(std::chrono::duration<double> mean) { change({.service_mean_s = mean.count()}); }

void Bank::change(const sim::Change& change) {
  floor_->ask([&] { floor_->tellers.change(now(), change), floor_->tell(); });
}

void Bank::stop() {
  floor_->ask([&] { floor_->tellers.stop(now()), floor_->tell(); });
}

void Bank::resume() {
  floor_->ask([&] { floor_->tellers.resume(now()), floor_->tell(); });
}

void Bank::set_fault(int target, EndpointFault fault) {
  floor_->ask([&] { floor_->targets.at(static_cast<std::size_t>(target)).endpoint.set_fault(fault); });
}

std::vector<std::string> Bank::metrics_urls() const {
  return floor_->ask([&] {
    std::vector<std::string> urls;
    for (const auto& target : floor_->targets) urls.push_back(target.endpoint.url());
    return urls;
  });
}

BankFigures Bank::figures() const {
  return floor_->ask([&] {
    BankFigures figures = floor_->figures;
    figures.waiting = static_cast<std::int64_t>(floor_->tellers.waiting());
    figures.in_service = static_cast<std::int64_t>(floor_->tellers.in_service());
    return figures;
  });
}

}  // namespace spillway::bank
