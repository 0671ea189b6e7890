// The breaker beside a naive one that follows the conventions word by word.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <thread>
#include <vector>

#include "breaker_probe.h"
#include "spillway/resilience/circuit_breaker.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;

struct Ended {
  std::int64_t second;
  bool failed;
  bool slow;
};

// Keeps every call of its window and counts them anew each time.
class NaiveBreaker {
 public:
  explicit NaiveBreaker(const BreakerSettings& settings) : settings_(settings) {}

  // The generation of the permit, or -1.
  int acquire(std::int64_t now) {
    if (state_ == BreakerState::kOpen && now - opened_ >= settings_.open_wait / milliseconds(1)) {
      enter(BreakerState::kHalfOpen, now);
    }
    if (state_ == BreakerState::kOpen) return -1;
    if (state_ == BreakerState::kHalfOpen) {
      if (calls_.size() + out_ >= settings_.trials) return -1;
      ++out_;
    }
    return generation_;
  }

  void end(int generation, Outcome outcome, bool slow, bool dropped, std::int64_t now) {
    if (generation != generation_) return;
    if (state_ == BreakerState::kHalfOpen) --out_;
    if (dropped || outcome == Outcome::kIgnored) return;
    calls_.push_back({now / 1000, outcome == Outcome::kFailure, slow});
    forget(now);
    std::size_t minimum = settings_.minimum_calls;
    if (state_ == BreakerState::kHalfOpen) minimum = settings_.trials;
    if (state_ == BreakerState::kClosed && settings_.window == WindowKind::kCount) {
      minimum = std::min<std::size_t>(minimum, settings_.window_size);
    }
    if (calls_.size() < minimum) return;
    if (reached(&Ended::failed, settings_.failure_rate_percent) || reached(&Ended::slow, settings_.slow_rate_percent)) {
      enter(BreakerState::kOpen, now);
    } else if (state_ == BreakerState::kHalfOpen) {
      enter(BreakerState::kClosed, now);
    }
  }

  BreakerState state() const { return state_; }
  std::size_t total(std::int64_t now) {
    forget(now);
    return calls_.size();
  }
  std::size_t out() const { return out_; }

 private:
  void forget(std::int64_t now) {
    if (state_ != BreakerState::kClosed) return;
    if (settings_.window == WindowKind::kCount) {
      while (calls_.size() > settings_.window_size) calls_.pop_front();
    } else {
      while (!calls_.empty() && calls_.front().second <= now / 1000 - settings_.window_size) calls_.pop_front();
    }
  }
  bool reached(bool Ended::*what, std::size_t percent) const {
    return static_cast<std::size_t>(std::ranges::count(calls_, true, what)) * 100 >= percent * calls_.size();
  }
  void enter(BreakerState state, std::int64_t now) {
    state_ = state;
    ++generation_;
    out_ = 0;
    opened_ = now;
    calls_.clear();
  }

  BreakerSettings settings_;
  BreakerState state_ = BreakerState::kClosed;
  int generation_ = 0;
  std::size_t out_ = 0;
  std::int64_t opened_ = 0;
  std::deque<Ended> calls_;
};

struct Running {
  CircuitBreaker::Permit permit;
  int generation;
};

BreakerSettings any_settings() {
  return {.window = *rc::gen::element(WindowKind::kCount, WindowKind::kTime),
          .window_size = *rc::gen::inRange<std::uint32_t>(1, 8),
          .minimum_calls = *rc::gen::inRange<std::uint32_t>(1, 8),
          .failure_rate_percent = *rc::gen::inRange<std::uint32_t>(1, 101),
          .slow_rate_percent = *rc::gen::inRange<std::uint32_t>(1, 101),
          .slow_threshold = milliseconds(100),
          .open_wait = milliseconds(2000),
          .trials = *rc::gen::inRange<std::uint32_t>(1, 5)};
}

void end_one(CircuitBreaker& breaker, NaiveBreaker& naive, std::vector<Running>& running, std::uint32_t choice,
             std::int64_t now) {
  const auto which = running.begin() + choice % static_cast<std::uint32_t>(running.size());
  const auto outcome = static_cast<Outcome>(choice / 7 % 3);
  const bool slow = choice / 21 % 2 == 1;
  const bool dropped = choice / 42 % 4 == 0;
  if (!dropped) which->permit.record(outcome, milliseconds(slow ? 101 : 100), ms(now));
  // A second record must find nothing to do.
  if (!dropped) which->permit.record(Outcome::kFailure, milliseconds(0), ms(now));
  naive.end(which->generation, outcome, slow, dropped, now);
  running.erase(which);
  RC_ASSERT(breaker.state() == naive.state());
}

TEST(ResilienceProperty, TheBreakerDecidesLikeANaiveOneAndCountsNoOutcomeTwice) {
  EXPECT_TRUE(rc::check("breaker equals its model", [] {
    const BreakerSettings settings = any_settings();
    CircuitBreaker breaker(settings, ms(0));
    NaiveBreaker naive(settings);
    std::vector<Running> running;
    std::int64_t now = 0;
    const auto steps = *rc::gen::container<std::vector<std::pair<int, std::uint32_t>>>(
        rc::gen::pair(rc::gen::inRange(0, 5), rc::gen::inRange<std::uint32_t>(0, 5000)));
    for (const auto& [kind, choice] : steps) {
      if (kind < 2) {
        auto admission = breaker.try_acquire(ms(now));
        const int generation = naive.acquire(now);
        RC_ASSERT(static_cast<bool>(admission) == (generation >= 0));
        if (admission) running.push_back({std::move(admission.permit), generation});
      } else if (kind < 4) {
        if (!running.empty()) end_one(breaker, naive, running, choice, now);
      } else {
        now += choice / 4;
      }
      RC_ASSERT(breaker.state() == naive.state());
      if (naive.state() == BreakerState::kHalfOpen) {
        RC_ASSERT(breaker.trials_free() == settings.trials - naive.total(now) - naive.out());
      }
      if (naive.state() != BreakerState::kOpen) RC_ASSERT(breaker.rates(ms(now)).counts.total == naive.total(now));
    }
  }));
}

TEST(ResilienceProperty, TrialsNeverExceedTheirNumberAcrossThreads) {
  EXPECT_TRUE(rc::check("breaker bounds its trials under threads", [] {
    const auto trials = *rc::gen::inRange<std::uint32_t>(1, 4);
    const auto programs = *rc::gen::container<std::vector<std::vector<int>>>(
        3, rc::gen::container<std::vector<int>>(8, rc::gen::inRange(0, 4)));
    CircuitBreaker breaker(
        {.minimum_calls = 1, .failure_rate_percent = 100, .open_wait = Duration(1), .trials = trials}, ms(0));
    breaker.try_acquire(ms(0)).permit.record(Outcome::kFailure, Duration(0), ms(0));
    const std::uint64_t opened = breaker.generation();
    std::atomic<std::uint32_t> admitted{0};
    {
      std::vector<std::jthread> threads;
      for (const auto& program : programs) {
        threads.emplace_back([&] {
          for (const int what : program) {
            auto admission = breaker.try_acquire(ms(1));
            if (!admission || admission.permit.generation() != opened + 1) continue;
            if (what == 0) continue;  // dropped: does not count against the trials
            admission.permit.record(what == 1 ? Outcome::kIgnored : Outcome::kFailure, Duration(0), ms(1));
            if (what > 1) ++admitted;
          }
        });
      }
    }
    RC_ASSERT(admitted.load() <= trials);
    if (breaker.generation() == opened + 1) RC_ASSERT(breaker.rates(ms(1)).counts.total == admitted.load());
  }));
}

}  // namespace
}  // namespace spillway::resilience
