#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <thread>
#include <vector>

#include "breaker_probe.h"
#include "spillway/resilience/bulkhead.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using WaitState = Bulkhead::WaitState;

// Drives a bulkhead through random steps and checks after each of them what must always hold.
class BulkheadRun {
 public:
  BulkheadRun(std::uint32_t limit, std::uint32_t queue)
      : limit_(limit),
        queue_(queue),
        bulkhead_({.limit = limit, .max_wait = milliseconds(20), .queue = queue, .priorities = 3}) {}

  void step(int kind, std::uint32_t choice) {
    switch (kind) {
      case 0:
        if (auto permit = bulkhead_.try_acquire()) held_.push_back(std::move(permit));
        break;
      case 1:
        waiters_.emplace_back();
        bulkhead_.acquire_or_wait(waiters_.back(), ms(now_), {}, choice % 4);
        break;
      case 2:
        if (!held_.empty()) held_.erase(std::next(held_.begin(), choice % held_.size()));
        break;
      case 3:
        if (!waiters_.empty()) settle(std::next(waiters_.begin(), choice % waiters_.size()));
        break;
      case 4:
        if (!waiters_.empty()) waiters_.erase(std::next(waiters_.begin(), choice % waiters_.size()));
        break;
      default: now_ += choice % 15;
    }
    check();
  }

  void end() {
    held_.clear();
    waiters_.clear();
    RC_ASSERT(bulkhead_.in_use() == 0u);
    RC_ASSERT(bulkhead_.waiting() == 0u);
    RC_ASSERT(bulkhead_.available() == limit_);
  }

 private:
  using Waiters = std::list<Bulkhead::Waiter>;

  void settle(Waiters::iterator waiter) {
    const WaitState state = waiter->poll(ms(now_));
    if (state == WaitState::kWaiting) return;
    if (state == WaitState::kGranted) held_.push_back(waiter->take());
    waiters_.erase(waiter);
  }

  void check() {
    std::size_t granted = 0, waiting = 0;
    for (auto& waiter : waiters_) {
      // Asked at the start of time, so that nothing times out by asking.
      const WaitState state = waiter.poll(Instant::min());
      granted += state == WaitState::kGranted;
      waiting += state == WaitState::kWaiting;
    }
    RC_ASSERT(bulkhead_.in_use() == held_.size() + granted);
    RC_ASSERT(bulkhead_.in_use() <= limit_);
    RC_ASSERT(bulkhead_.waiting() == waiting);
    RC_ASSERT(waiting <= queue_);
    // Nobody waits beside a free slot.
    RC_ASSERT(waiting == 0 || bulkhead_.in_use() == limit_);
  }

  std::uint32_t limit_;
  std::uint32_t queue_;
  std::int64_t now_ = 0;
  Bulkhead bulkhead_;
  std::list<Bulkhead::Permit> held_;
  Waiters waiters_;
};

TEST(ResilienceProperty, PermitsNeverExceedTheLimitAndAllComeBack) {
  EXPECT_TRUE(rc::check("bulkhead keeps its limit", [] {
    BulkheadRun run(*rc::gen::inRange<std::uint32_t>(1, 5), *rc::gen::inRange<std::uint32_t>(0, 5));
    const auto steps = *rc::gen::container<std::vector<std::pair<int, std::uint32_t>>>(
        rc::gen::pair(rc::gen::inRange(0, 6), rc::gen::inRange<std::uint32_t>(0, 1000)));
    for (const auto& [kind, choice] : steps) run.step(kind, choice);
    run.end();
  }));
}

TEST(ResilienceProperty, PermitsNeverExceedTheLimitAcrossThreads) {
  EXPECT_TRUE(rc::check("bulkhead keeps its limit under threads", [] {
    const auto limit = *rc::gen::inRange<std::uint32_t>(1, 3);
    // Per thread: how many calls, and whether each waits.
    const auto programs = *rc::gen::container<std::vector<std::vector<bool>>>(
        3, rc::gen::container<std::vector<bool>>(8, rc::gen::arbitrary<bool>()));
    Bulkhead bulkhead({.limit = limit, .max_wait = std::chrono::hours(1)});
    std::atomic<std::uint32_t> inside{0}, most{0};
    const auto use = [&](Bulkhead::Permit) {
      const std::uint32_t now_inside = ++inside;
      std::uint32_t seen = most;
      while (seen < now_inside && !most.compare_exchange_weak(seen, now_inside)) {
      }
      --inside;
    };
    {
      std::vector<std::jthread> threads;
      for (const auto& program : programs) {
        threads.emplace_back([&] {
          for (const bool waits : program) {
            if (!waits) {
              if (auto permit = bulkhead.try_acquire()) use(std::move(permit));
              continue;
            }
            Bulkhead::Waiter waiter;
            bulkhead.acquire_or_wait(waiter, ms(0));
            while (waiter.poll(ms(0)) == WaitState::kWaiting) std::this_thread::yield();
            use(waiter.take());
          }
        });
      }
    }
    RC_ASSERT(most.load() <= limit);
    RC_ASSERT(bulkhead.in_use() == 0u);
    RC_ASSERT(bulkhead.waiting() == 0u);
  }));
}

}  // namespace
}  // namespace spillway::resilience
