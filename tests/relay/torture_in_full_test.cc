#include <gtest/gtest.h>

#include "relay/torture.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

TEST(TortureInFull, LosesNothingInventsNothingInvertsNothing) {
  torture({.events = 200'000, .relay_kills = 20, .broker_away = 10s});
}

}  // namespace
}  // namespace spillway::testing
