#include <gtest/gtest.h>

#include <thread>

#include "breaker_probe.h"
#include "spillway/resilience/pipeline.h"

namespace spillway::resilience {
namespace {

TEST(DrainGate, RefusesNewCallsAndIsDrainedWhenTheLastHasLeft) {
  EventQueue events;
  DrainGate gate(&events);
  auto first = gate.enter(), second = gate.enter();
  gate.close(ms(5));
  gate.close(ms(6));
  EXPECT_FALSE(gate.enter());
  first.drop();
  EXPECT_FALSE(gate.drained());
  second.drop();
  EXPECT_TRUE(gate.drained());
  const auto told = drained(events);
  EXPECT_EQ(count(told, EventKind::kDrainStarted), 1u);
  EXPECT_EQ(count(told, EventKind::kDrained), 1u);
}

TEST(DrainGate, AnEmptyGateIsDrainedOnClosing) {
  DrainGate gate;
  EXPECT_FALSE(gate.drained());
  gate.close(ms(0));
  EXPECT_TRUE(gate.drained());
}

TEST(DrainGate, WaitsForCallsOnOtherThreads) {
  DrainGate gate;
  SystemClock clock;
  auto pass = gate.enter();
  std::jthread leaver([&gate, held = std::move(pass)]() mutable {
    while (!gate.closed()) std::this_thread::yield();
    held.drop();
  });
  gate.close(clock.now());
  EXPECT_TRUE(gate.wait_drained(clock));
}

TEST(DrainGate, TellsAPipelineWhyItRefuses) {
  ManualClock clock;
  DrainGate gate;
  const auto guarded = pipeline_on(clock, gate);
  EXPECT_TRUE(guarded.call([] { return 1; }).ok());
  EXPECT_EQ(gate.inside(), 0u);
  gate.close(ms(0));
  EXPECT_EQ(guarded.call([] { return 1; }).cause(), Cause::kDraining);
}

}  // namespace
}  // namespace spillway::resilience
