#include "spillway/resilience/single_flight.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "spillway/resilience/clock.h"

namespace spillway::resilience {
namespace {

using Flights = SingleFlight<std::string, int>;

// Starts followers once the leader is under way and lets the leader land when all of them wait.
struct Crowd {
  Flights flights;
  SystemClock clock;
  std::atomic<int> runs{0};

  int lead(std::size_t followers) {
    ++runs;
    while (flights.following() < followers) std::this_thread::yield();
    return 7;
  }
  void until_under_way() {
    while (flights.size() == 0) std::this_thread::yield();
  }
};

TEST(SingleFlight, ManyCallersShareOneCall) {
  Crowd crowd;
  std::atomic<int> shared{0};
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
      const auto led = crowd.flights.run(
          "k", [&] { return crowd.lead(5); }, crowd.clock);
      EXPECT_TRUE(led->led);
    });
    crowd.until_under_way();
    for (int i = 0; i < 5; ++i) {
      threads.emplace_back([&] {
        const auto followed = crowd.flights.run(
            "k", [&] { return crowd.lead(0); }, crowd.clock);
        shared += !followed->led && followed->value == 7;
      });
    }
  }
  EXPECT_EQ(crowd.runs, 1);
  EXPECT_EQ(shared, 5);
  EXPECT_TRUE(crowd.flights
                  .run(
                      "k", [&] { return crowd.lead(0); }, crowd.clock)
                  ->led);
  EXPECT_EQ(crowd.runs, 2);
}

TEST(SingleFlight, AnExceptionReachesAll) {
  Crowd crowd;
  std::atomic<int> caught{0};
  {
    std::vector<std::jthread> threads;
    const auto caller = [&](std::size_t followers) {
      EXPECT_THROW(crowd.flights.run(
                       "k",
                       [&]() -> int {
                         crowd.lead(followers);
                         throw std::runtime_error("down");
                       },
                       crowd.clock),
                   std::runtime_error);
      ++caught;
    };
    threads.emplace_back(caller, 1);
    crowd.until_under_way();
    threads.emplace_back(caller, 0);
  }
  EXPECT_EQ(caught, 2);
  EXPECT_EQ(crowd.runs, 1);
}

TEST(SingleFlight, AFollowerLeavesAtItsDeadline) {
  Crowd crowd;
  std::atomic<bool> land{false};
  std::jthread leader([&] {
    crowd.flights.run(
        "k",
        [&] {
          while (!land) std::this_thread::yield();
          return 1;
        },
        crowd.clock);
  });
  crowd.until_under_way();
  const auto gone = crowd.flights.run(
      "k", [] { return 2; }, crowd.clock, Deadline::at(crowd.clock.now()));
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error(), Cause::kDeadlineExceeded);
  land = true;
}

}  // namespace
}  // namespace spillway::resilience
