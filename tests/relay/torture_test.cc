#include "relay/torture.h"

#include <gtest/gtest.h>

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

TEST(Torture, LosesNothingInventsNothingInvertsNothing) {
  torture({.events = 30'000, .relay_kills = 2, .broker_away = 3s});
}

}  // namespace
}  // namespace spillway::testing
