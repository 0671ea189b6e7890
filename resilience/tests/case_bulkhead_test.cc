#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <vector>

#include "breaker_probe.h"
#include "spillway/resilience/bulkhead.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;
using WaitState = Bulkhead::WaitState;

TEST(ResilienceCase, S38_AWaiterRunsWhenTheHolderLeavesOrIsRefusedInTime) {
  Bulkhead bulkhead({.limit = 1, .max_wait = milliseconds(100)});
  auto holder = bulkhead.try_acquire();
  {
    Bulkhead::Waiter waiter;
    ASSERT_EQ(bulkhead.acquire_or_wait(waiter, ms(0)), WaitState::kWaiting);
    EXPECT_EQ(waiter.poll(ms(49)), WaitState::kWaiting);
    holder.drop();
    EXPECT_EQ(waiter.poll(ms(50)), WaitState::kGranted);
    holder = waiter.take();
  }
  Bulkhead::Waiter waiter;
  ASSERT_EQ(bulkhead.acquire_or_wait(waiter, ms(0)), WaitState::kWaiting);
  EXPECT_EQ(waiter.poll(ms(99)), WaitState::kWaiting);
  EXPECT_EQ(waiter.poll(ms(100)), WaitState::kTimedOut);
  EXPECT_EQ(bulkhead.in_use(), 1u);
}

TEST(ResilienceCase, S39_TimedOutWaitersLeakNoSlots) {
  Bulkhead bulkhead({.limit = 8, .max_wait = milliseconds(10)});
  std::vector<Bulkhead::Permit> holders;
  for (int i = 0; i < 8; ++i) holders.push_back(bulkhead.try_acquire());
  std::array<Bulkhead::Waiter, 8> waiters;
  for (auto& waiter : waiters) ASSERT_EQ(bulkhead.acquire_or_wait(waiter, ms(0)), WaitState::kWaiting);
  for (auto& waiter : waiters) EXPECT_EQ(waiter.poll(ms(10)), WaitState::kTimedOut);
  holders.clear();
  EXPECT_EQ(bulkhead.available(), 8u);
  for (int i = 0; i < 8; ++i) {
    holders.push_back(bulkhead.try_acquire());
    EXPECT_TRUE(holders.back());
  }
  EXPECT_EQ(bulkhead.counters().timed_out, 8u);
}

TEST(Bulkhead, ServesTheMoreImportantClassFirstAndThenTheLongestWaiting) {
  Bulkhead bulkhead({.limit = 1, .max_wait = milliseconds(100), .priorities = 2});
  auto holder = bulkhead.try_acquire();
  Bulkhead::Waiter low_first, low_second, high;
  bulkhead.acquire_or_wait(low_first, ms(0), {}, 1);
  bulkhead.acquire_or_wait(low_second, ms(1), {}, 1);
  bulkhead.acquire_or_wait(high, ms(2), {}, 0);
  holder.drop();
  EXPECT_EQ(high.poll(ms(3)), WaitState::kGranted);
  EXPECT_EQ(low_first.poll(ms(3)), WaitState::kWaiting);
  high.take().drop();
  EXPECT_EQ(low_first.poll(ms(3)), WaitState::kGranted);
  EXPECT_EQ(low_second.poll(ms(3)), WaitState::kWaiting);
}

TEST(Bulkhead, AFullQueueMakesRoomForAMoreImportantCallOnly) {
  Bulkhead bulkhead({.limit = 1, .max_wait = milliseconds(100), .queue = 1, .priorities = 2});
  auto holder = bulkhead.try_acquire();
  Bulkhead::Waiter low, another_low, high;
  EXPECT_EQ(bulkhead.acquire_or_wait(low, ms(0), {}, 1), WaitState::kWaiting);
  EXPECT_EQ(bulkhead.acquire_or_wait(another_low, ms(0), {}, 1), WaitState::kRefused);
  EXPECT_EQ(bulkhead.acquire_or_wait(high, ms(0), {}, 0), WaitState::kWaiting);
  EXPECT_EQ(low.poll(ms(0)), WaitState::kRefused);
}

TEST(Bulkhead, AWaitEndsAtTheDeadlineIfThatComesFirst) {
  Bulkhead bulkhead({.limit = 1, .max_wait = milliseconds(100)});
  auto holder = bulkhead.try_acquire();
  Bulkhead::Waiter waiter;
  bulkhead.acquire_or_wait(waiter, ms(0), Deadline::at(ms(30)));
  EXPECT_EQ(waiter.poll(ms(30)), WaitState::kTimedOut);
}

TEST(Bulkhead, AWaiterThatLeavesGivesAGrantedSlotToTheNext) {
  Bulkhead bulkhead({.limit = 1, .max_wait = milliseconds(100)});
  auto holder = bulkhead.try_acquire();
  Bulkhead::Waiter next;
  {
    Bulkhead::Waiter leaving;
    bulkhead.acquire_or_wait(leaving, ms(0));
    bulkhead.acquire_or_wait(next, ms(0));
    holder.drop();
    ASSERT_EQ(leaving.poll(ms(1)), WaitState::kGranted);
  }
  EXPECT_EQ(next.poll(ms(1)), WaitState::kGranted);
  EXPECT_EQ(bulkhead.in_use(), 1u);
}

TEST(Bulkhead, ARaisedLimitAdmitsWaitersAndALoweredOneRevokesNothing) {
  Bulkhead bulkhead({.limit = 1, .max_wait = milliseconds(100)});
  auto holder = bulkhead.try_acquire();
  Bulkhead::Waiter waiter;
  bulkhead.acquire_or_wait(waiter, ms(0));
  bulkhead.set_limit(2);
  EXPECT_EQ(waiter.poll(ms(0)), WaitState::kGranted);
  bulkhead.set_limit(1);
  EXPECT_EQ(bulkhead.in_use(), 2u);
  EXPECT_EQ(bulkhead.available(), 0u);
}

}  // namespace
}  // namespace spillway::resilience
