#include <gtest/gtest.h>

#include <stdexcept>

#include "breaker_probe.h"

namespace spillway::resilience {
namespace {

TEST(EventQueue, DropsAndCountsWhenNobodyListens) {
  EventQueue events(4);
  for (std::uint64_t i = 0; i < 7; ++i) events.push({.kind = EventKind::kLimitChanged, .value = i});
  EXPECT_EQ(events.dropped(), 3u);
  const auto all = drained(events);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all.front().value, 0u);
  events.push({.kind = EventKind::kLimitChanged, .value = 9});
  EXPECT_EQ(drained(events).front().value, 9u);
}

TEST(EventQueue, AListenerThatThrowsLosesOneEventAndIsCounted) {
  EventQueue events;
  events.push({});
  events.push({});
  int heard = 0;
  EXPECT_EQ(events.drain([&](const Event&) {
    if (++heard == 1) throw std::runtime_error("listener");
  }),
            2u);
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(events.listener_errors(), 1u);
}

TEST(EventQueue, NamesTheBreakerThatSpoke) {
  EventQueue events;
  CircuitBreaker breaker({.name = "bank"}, ms(0), &events);
  breaker.force_open(ms(3));
  const auto all = drained(events);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name(), "bank");
  EXPECT_EQ(all[0].at, ms(3));
}

}  // namespace
}  // namespace spillway::resilience
