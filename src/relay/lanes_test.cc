#include <gtest/gtest.h>

#include <limits>

#include "relay/fault_rig.h"
#include "relay/load_meter.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;

RelayOptions with_lanes(bool promote = false) {
  RelayOptions options;
  options.lanes = true;
  options.promote = promote;
  return options;
}

governor::Decision budget(double backlog) {
  governor::Decision decision;
  decision.total_rate = decision.backlog_budget = backlog;
  return decision;
}

// A backlog of `rows` of the keys k0 to k9, with a budget, and the time until it was found out.
struct Recovery : FaultRig {
  explicit Recovery(int rows, double rate, RelayOptions options = with_lanes()) : FaultRig(options) {
    topic("events", 4);
    for (int i = 0; i < rows; ++i) insert("k" + std::to_string(i % 10), "events", 0);
    relay->pace(budget(rate));
    run(20);
  }
  // 1 ms a turn.
  std::size_t arrived_within(int turns) {
    const std::int64_t before = relay->counters().published;
    run(turns);
    return static_cast<std::size_t>(relay->counters().published - before);
  }
};

TEST(Lanes, WhatWaitsAtTheStartIsBacklogAndKeepsToItsBudget) {
  Recovery rig(500, 50);
  EXPECT_EQ(rig.relay->counters().recoveries, 1);
  EXPECT_NEAR(static_cast<double>(rig.arrived_within(2'000)), 100, 5);
}

TEST(Lanes, BacklogKeepsToTheWindowWhileTheBrokerDoesNotAnswerAndLiveDoesNot) {
  Recovery rig(500, 0);
  rig.sink->deliver(0);
  governor::Decision wide = budget(1'000);
  wide.in_flight_window = 20;
  rig.relay->pace(wide);
  rig.run(500);
  EXPECT_EQ(rig.relay->outbound().in_flight(), 20u);
  rig.insert("other", "events", 0);
  rig.run(60);
  EXPECT_EQ(rig.relay->outbound().in_flight(), 21u);
  rig.sink->deliver(-1);
  EXPECT_EQ(rig.arrived_within(1'000), 501u);
}

TEST(Lanes, ALiveEventOfAnotherKeyDoesNotWaitForTheBacklog) {
  Recovery rig(500, 0);
  rig.insert("other", "events", 0);
  EXPECT_EQ(rig.arrived_within(60), 1u);
  EXPECT_EQ(rig.relay->tallies().of(Flow::kLive).published, 1);
}

TEST(Lanes, ALiveEventWaitsForTheBacklogOfItsKeyAndFollowsIt) {
  Recovery rig(100, 0);
  rig.insert("k3", "events", 0);
  EXPECT_EQ(rig.arrived_within(200), 0u);
  EXPECT_EQ(rig.relay->counters().waited, 1);
  rig.relay->pace(budget(1'000));
  EXPECT_EQ(rig.arrived_within(3'000), 101u);
  EXPECT_FALSE(rig.broken_now());
}

TEST(Lanes, ManyThatWaitedFollowAtOnce) {
  Recovery rig(100, 0);
  for (int i = 0; i < 3'000; ++i) rig.insert("k" + std::to_string(i % 10), "events", 0);
  rig.run(1'000);
  ASSERT_EQ(rig.relay->counters().published, 0);
  rig.relay->pace(budget(100'000));
  rig.run(1'500);
  EXPECT_EQ(rig.relay->counters().published, 3'100) << "not so many a second";
  EXPECT_FALSE(rig.broken_now());
}

TEST(Lanes, AKeyThatALiveEventWaitsForGoesFirst) {
  Recovery rig(100, 100, with_lanes(true));
  rig.insert("k9", "events", 0);
  EXPECT_LE(rig.arrived_within(400), 60u);
  EXPECT_EQ(rig.relay->tallies().of(Flow::kPromoted).published, 10) << "all of its backlog";
  EXPECT_EQ(rig.relay->tallies().of(Flow::kLive).published, 1);
  EXPECT_FALSE(rig.broken_now());
}

TEST(Lanes, WhatHadWaitedFollowsTheBacklogThatACrashBringsBack) {
  Recovery rig(20, 0, with_lanes(true));
  rig.insert("k3", "events", 0);
  rig.run(100);
  // As it is while all before it is on its way.
  ASSERT_EQ(rig.store.open_ledger()->release_keys(rig.relay->fence(), std::vector<std::string>{"k3"}), 1);
  rig.restart();
  rig.relay->pace(budget(0));
  rig.run(500);
  EXPECT_TRUE(rig.arrivals.empty());
  rig.relay->pace(budget(1'000));
  rig.run(2'000);
  EXPECT_EQ(rig.firsts("k3"), (std::vector<std::size_t>{4, 14, 21}));
  EXPECT_FALSE(rig.broken_at_the_end());
}

TEST(Lanes, WhileLiveIsHeldNothingBecomesBacklog) {
  FaultRig rig(with_lanes());
  rig.topic("events", 1);
  rig.insert("k", "events", 0);
  rig.run(100);
  governor::Decision hold = budget(0);
  hold.live_cap = 0;
  rig.relay->pace(hold);
  rig.insert("k", "events", 0);
  for (int i = 0; i < 20; ++i) {
    rig.run(5);
    rig.pass(1s);
  }
  EXPECT_TRUE(rig.relay->lanes().backlog().empty());
  EXPECT_EQ(rig.relay->counters().published, 1);
  rig.relay->pace(budget(1'000));
  rig.run(100);
  EXPECT_EQ(rig.relay->counters().published, 2);
}

TEST(Lanes, TheSplitOutlivesARestart) {
  Recovery rig(500, 50);
  rig.run(1'000);
  ASSERT_EQ(rig.store.saved().backlog.size(), 1u);
  const auto end = rig.store.saved().backlog.front().at.frame.to;
  rig.restart();
  rig.relay->pace(budget(0));
  rig.run(100);
  ASSERT_EQ(rig.store.saved().backlog.size(), 1u);
  EXPECT_EQ(rig.store.saved().backlog.front().at.frame.to, end);
  EXPECT_EQ(rig.relay->counters().recoveries, 0);
}

TEST(Lanes, TheCapacityThatWasFoundOutlivesARestartButNotALongOutage) {
  Recovery rig(500, 50);
  governor::Decision found = budget(50);
  found.state = governor::State::kTracking;
  found.capacity = 480;
  rig.relay->pace(found);
  rig.run(1'000);
  rig.restart();
  rig.run(20);
  EXPECT_EQ(rig.relay->capacity(), 480);
  rig.pass(11min);
  rig.restart();
  rig.run(20);
  EXPECT_EQ(rig.relay->capacity(), 0);
}

TEST(Lanes, APageThatIsBeingReadBelongsToWhatIsLeftBehind) {
  RelayOptions options = with_lanes();
  options.outbound.events_in_flight = 1;
  options.outbound.bytes_in_flight = 64 << 10;  // several pages a frame
  FaultRig rig(options);
  rig.topic("events", 1);
  rig.insert("k", "events", 40'000);
  rig.run(50);
  rig.sink->deliver(0);
  for (int i = 0; i < 6; ++i) rig.insert("k", "events", 40'000);
  rig.ask_until_out(ReadRequest::Kind::kPage);
  rig.answer_read();
  rig.ask_until_out(ReadRequest::Kind::kPage);
  rig.pass(10s);
  rig.sink->deliver(1);
  rig.answer_sink();
  rig.sink->deliver(-1);
  rig.run(300);
  EXPECT_GE(rig.relay->counters().recoveries, 1);
  EXPECT_EQ(rig.firsts("k"), (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(rig.arrivals.size(), 7u) << "none of them twice";
  EXPECT_FALSE(rig.broken_now());
  EXPECT_FALSE(rig.broken_at_the_end());
}

TEST(Lanes, AnotherOutageDuringARecoveryAppendsAnInterval) {
  Recovery rig(500, 50);
  rig.run(300);
  rig.relay->pause(true);
  for (int i = 0; i < 50; ++i) rig.insert("n" + std::to_string(i), "events", 0);
  rig.run(50);
  rig.pass(10s);
  rig.relay->pause(false);
  rig.run(300);
  EXPECT_EQ(rig.relay->lanes().backlog().size(), 2u);
  rig.relay->pace(budget(10'000));
  rig.run(1'500);
  EXPECT_EQ(rig.relay->counters().published, 550);
  EXPECT_FALSE(rig.broken_now());
  EXPECT_FALSE(rig.broken_at_the_end());
}

TEST(Triage, NothingOfAPageIsSentBeforeItsVerdictsAreOnRecord) {
  RelayOptions options = with_lanes();
  options.triage = true;
  FaultRig rig(options);
  rig.topic("events", 1);
  rig.rules = [](std::size_t number) { return number == 3 ? model::Verdict::kDiscard : model::Verdict::kPublish; };
  for (int i = 0; i < 10; ++i) rig.insert("k", "events", 0);
  const auto judged = [&rig] { return !rig.store.saved().backlog.empty() && rig.store.saved().backlog.front().judged; };
  for (int turn = 0; turn < 1'000 && !judged(); ++turn) {
    EXPECT_EQ(rig.relay->counters().sent, 0);
    rig.run(1);
  }
  rig.run(100);
  EXPECT_EQ(rig.relay->counters().published, 9);
  EXPECT_EQ(rig.store.open_operator()->figures()->discarded, 1);
}

TEST(Triage, WhatARuleReconcilesGoesToItsTopicAndWaitsForAPerson) {
  RelayOptions options = with_lanes();
  options.triage = true;
  FaultRig rig(options);
  rig.topic("events", 1);
  rig.topic("outbox.reconcile", 1);
  rig.rules = [](std::size_t number) { return number == 2 ? model::Verdict::kReconcile : model::Verdict::kPublish; };
  for (int i = 0; i < 3; ++i) rig.insert("k", "events", 0);
  rig.run(2'000);
  ASSERT_FALSE(rig.broken_at_the_end()) << *rig.broken_at_the_end() << rig.story;
  ASSERT_EQ(rig.reconciled.size(), 1u);
  const auto& headers = rig.reconciled.front().headers;
  const std::pair<std::string, std::string> topic{"spillway-topic", "events"};
  const std::pair<std::string, std::string> rule{"spillway-rule", "rule"};
  EXPECT_NE(std::ranges::find(headers, topic), headers.end());
  EXPECT_NE(std::ranges::find(headers, rule), headers.end());
  const auto open = rig.store.open_operator()->settlements({});
  ASSERT_EQ(open->size(), 1u);
  EXPECT_EQ(open->front().verdict, model::Verdict::kReconcile);
  EXPECT_EQ(open->front().topic, "events");
  EXPECT_EQ(rig.relay->triaged().at({"rule", model::Verdict::kReconcile}), 1u);
}

TEST(LoadMeter, MeasuresWhatLiveOffersAndKeepsItWhileLiveIsHeld) {
  FaultRig rig(with_lanes());
  rig.topic("events", 1);
  rig.insert("k", "events", 0);
  rig.run(100);
  LoadMeter meter;
  for (int tick = 0; tick < 40; ++tick) {
    for (int i = 0; i < 50; ++i) {
      rig.insert("k", "events", 0);
      rig.run(5);
    }
    meter.observe(*rig.relay, rig.now);
  }
  EXPECT_NEAR(meter.observe(*rig.relay, rig.now).live_rate, 200, 10);
  governor::Decision hold = budget(0);
  hold.live_cap = 0;
  rig.relay->pace(hold);
  for (int tick = 0; tick < 20; ++tick) {
    for (int i = 0; i < 50; ++i) {
      rig.insert("k", "events", 0);
      rig.run(5);
    }
    meter.observe(*rig.relay, rig.now);
  }
  const auto in = meter.observe(*rig.relay, rig.now);
  EXPECT_NEAR(in.live_rate, 200, 10);
  EXPECT_GT(in.held_live, 700);
}

}  // namespace
}  // namespace spillway::relay
