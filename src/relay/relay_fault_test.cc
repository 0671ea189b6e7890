#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <limits>

#include "relay/fault_rig.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> kTopics = {"a", "b", "c"};

base::Error an_error(FaultRig& rig) {
  const bool place = *rc::gen::arbitrary<bool>();
  if (place) rig.repeats_allowed = true;
  return {place ? base::ErrorClass::kLostPlace : base::ErrorClass::kUnavailable, "injected"};
}

std::string a_topic() { return *rc::gen::elementOf(kTopics); }

void insert_some(FaultRig& rig) {
  for (int i = 0, n = *rc::gen::inRange(1, 20); i < n; ++i) {
    const std::string key = "k" + std::to_string(*rc::gen::inRange(0, 4));
    const std::size_t padding = *rc::gen::inRange(0, 40) == 39 ? 40'000 : 0;
    const std::string topic = *rc::gen::inRange(0, 4) == 0 ? a_topic() : "a";
    // A writer that commits late holds its key's lock: nothing else of the key comes between.
    const bool late = *rc::gen::inRange(0, 30) == 29;
    rig.insert(late ? "late-" + std::to_string(rig.inserted()) : key, topic, padding, !late);
  }
}

void disturb_broker(FaultRig& rig, bool steady) {
  switch (*rc::gen::inRange(0, steady ? 5 : 9)) {
    case 0: rig.sink->hold(a_topic(), *rc::gen::inRange(0, 3)); break;
    case 1:
    case 2: rig.sink->let_go(a_topic(), *rc::gen::inRange(0, 3)); break;
    case 3: rig.sink->deliver(*rc::gen::inRange(-1, 20)); break;
    case 4: rig.sink->set_reachable(*rc::gen::arbitrary<bool>()); break;
    case 5: rig.drop_topic(a_topic()); break;
    case 6:
    case 7: rig.topic(a_topic(), *rc::gen::inRange(1, 5)); break;
    case 8: rig.refuse_topic(a_topic()); break;
  }
}

void disturb_store(FaultRig& rig) {
  switch (*rc::gen::inRange(0, 5)) {
    case 0: rig.read_fault = an_error(rig); break;
    case 1:
      rig.ledger_fault = an_error(rig);
      rig.answers_lost = *rc::gen::arbitrary<bool>();
      break;
    case 2:
    case 3: rig.read_fault.reset(), rig.ledger_fault.reset(); break;
    case 4:
      if (const auto open = rig.open_transactions(); !open.empty()) rig.commit(*rc::gen::elementOf(open));
      break;
  }
}

void end_a_life(FaultRig& rig) {
  rig.repeats_allowed = true;
  switch (*rc::gen::inRange(0, 7)) {
    case 0: rig.restart(); break;
    case 1: rig.sink->break_producer("fatal", static_cast<std::size_t>(*rc::gen::inRange(0, 5))); break;
    case 2: rig.sink->lose(static_cast<std::size_t>(*rc::gen::inRange(1, 4)), true); break;
    case 3: rig.relay->lease_lost(); break;
    case 4: rig.take_lease(); break;
    case 5: rig.store.lose_place(); break;
    case 6:
      rig.relay->drain();
      rig.run(20);
      rig.restart();
      break;
  }
}

// What the governor says, whatever it may be.
governor::Decision a_pace() {
  governor::Decision decision;
  const double forever = std::numeric_limits<double>::infinity();
  decision.total_rate = *rc::gen::element(0.0, 2.0, 50.0, 1'000.0, forever);
  decision.live_rate = *rc::gen::element(0.0, 40.0, 900.0);
  decision.backlog_budget = std::max(0.0, decision.total_rate - decision.live_rate);
  decision.in_flight_window = *rc::gen::element(0.0, 0.4, 1.0, 20.0);
  if (*rc::gen::inRange(0, 4) == 0) decision.live_cap = *rc::gen::element(0.0, 2.0, 1'000.0);
  return decision;
}

governor::Decision no_limit() {
  governor::Decision decision;
  decision.total_rate = decision.backlog_budget = std::numeric_limits<double>::infinity();
  return decision;
}

std::function<model::Verdict(std::size_t)> some_rules() {
  const std::size_t salt = *rc::gen::inRange<std::size_t>(0, 100);
  return [salt](std::size_t number) {
    const std::size_t draw = number * 7919 % 101 + salt;
    return draw % 5 == 0   ? model::Verdict::kDiscard
           : draw % 7 == 0 ? model::Verdict::kReconcile
                           : model::Verdict::kPublish;
  };
}

void step(FaultRig& rig, bool steady) {
  switch (*rc::gen::inRange(0, 19)) {
    case 0:
    case 1:
    case 2:
    case 3: insert_some(rig); break;
    case 4:
    case 5:
    case 6: disturb_broker(rig, steady); break;
    case 7:
    case 8: disturb_store(rig); break;
    case 9:
      if (*rc::gen::inRange(0, 3) == 0) end_a_life(rig);
      break;
    case 10: rig.relay->pause(*rc::gen::arbitrary<bool>()); break;
    case 11: {
      std::set<int> refused;
      for (int i = 0, n = *rc::gen::inRange(0, 6); i < n; ++i)
        refused.insert(*rc::gen::inRange(1, static_cast<int>(rig.inserted()) + 20));
      rig.refuse(refused);
      break;
    }
    case 12: rig.resolve_one(*rc::gen::element(model::Verdict::kPublish, model::Verdict::kDiscard)); break;
    case 13:
      if (rig.inserted() > 0) rig.remove(rig.seq_of(*rc::gen::inRange<std::size_t>(1, rig.inserted() + 1)));
      break;
    case 14: rig.pass(std::chrono::milliseconds(*rc::gen::inRange(0, 3000))); break;
    case 15: rig.relay->pace(a_pace()); break;
    case 16: rig.relay->pace(no_limit()); break;
    case 18: rig.rules = some_rules(); break;
    case 17: rig.relay->pause_backlog(*rc::gen::arbitrary<bool>()); break;
  }
  switch (*rc::gen::inRange(0, 6)) {
    case 0: rig.ask(); break;
    case 1: rig.answer_read(); break;
    case 2: rig.answer_ledger(); break;
    case 3: rig.answer_sink(); break;
    default: rig.run(5); break;
  }
  rig.pass(1ms);
}

void end_all_faults(FaultRig& rig) {
  rig.read_fault.reset();
  rig.ledger_fault.reset();
  rig.refuse({});
  rig.sink->set_reachable(true);
  rig.sink->deliver(-1);
  rig.relay->pause(false);
  rig.relay->pause_backlog(false);
  rig.relay->pace(no_limit());
  for (const std::string& topic : kTopics) {
    rig.topic(topic, 2);
    for (std::int32_t partition = 0; partition < 5; ++partition) rig.sink->let_go(topic, partition);
  }
  for (std::int64_t seq : rig.open_transactions()) rig.commit(seq);
  if (rig.relay->state() == RelayState::kStandby) rig.take_lease();
}

#define RC_HOLDS(check)                          \
  if (const auto wrong = (check)) {              \
    RC_LOG(rig.story + *wrong + "\n");           \
    RC_FAIL("a promise is broken: " + (*wrong)); \
  }

// A hundred times as many runs as rapidcheck makes unasked, under a sanitizer ten times; whoever sets RC_PARAMS has the
// last word.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char* kRuns = "max_success=1000";
#else
constexpr const char* kRuns = "max_success=10000";
#endif
[[maybe_unused]] const int kMoreRuns = setenv("RC_PARAMS", kRuns, 0);

std::int64_t recoveries = 0;
std::int64_t waited = 0;
std::int64_t promoted = 0;
std::int64_t judged = 0;

void one_run() {
  RelayOptions options;
  options.outbound.events_in_flight = *rc::gen::element<std::size_t>(1, 2, 5, 40, 20'000);
  options.outbound.bytes_in_flight = *rc::gen::element<std::size_t>(64 << 10, 16 << 20);
  options.outbound.unknown_topic_after = *rc::gen::element<base::Duration>(0s, 2s, 30s);
  options.ahead = *rc::gen::element<std::size_t>(1, 10, 100'000);
  options.stop_key = *rc::gen::arbitrary<bool>();
  options.lanes = *rc::gen::arbitrary<bool>();
  options.triage = options.lanes && *rc::gen::arbitrary<bool>();
  options.promote = *rc::gen::arbitrary<bool>();
  options.save_rows = *rc::gen::element<std::int64_t>(1, 10, 10'000);
  options.live_age = *rc::gen::element<base::Duration>(5ms, 100ms, 5s);
  const bool steady = *rc::gen::arbitrary<bool>();
  FaultRig rig(options);
  rig.repeats_allowed = false;
  rig.topic("outbox.reconcile", 1);
  rig.rules = some_rules();
  for (const std::string& topic : kTopics) {
    if (steady || *rc::gen::arbitrary<bool>()) rig.topic(topic, *rc::gen::inRange(1, 4));
  }
  for (int i = 0, steps = *rc::gen::inRange(10, 80); i < steps; ++i) {
    step(rig, steady);
    RC_HOLDS(rig.broken_now());
  }
  end_all_faults(rig);
  for (int i = 0; i < 200 && rig.broken_at_the_end(); ++i) {
    for (int k = 0; k < 5; ++k) rig.resolve_one(model::Verdict::kPublish);
    rig.run(20);
    rig.pass(1s);
  }
  RC_HOLDS(rig.broken_now());
  RC_HOLDS(rig.broken_at_the_end());
  recoveries += rig.relay->counters().recoveries;
  waited += rig.relay->counters().waited;
  for (const auto& [rule, count] : rig.relay->triaged()) judged += static_cast<std::int64_t>(count);
  promoted += rig.relay->tallies().of(Flow::kPromoted).published;
}

// Live must not get in one heap what waited for longer than live_age.
TEST(Recovery, LeavesBehindWhatAnOutageBroughtAlsoWhereItBeganWithinAFrame) {
  RelayOptions options;
  options.lanes = true;
  options.outbound.events_in_flight = 1;
  FaultRig rig(options);
  rig.topic("t", 1);
  rig.run(200);
  for (int i = 0; i < 5; ++i) rig.insert("k" + std::to_string(i), "t", 0);
  for (int i = 0; i < 200 && !rig.store.saved().live.last_seq; ++i) {
    rig.turn();
    rig.pass(100ms);
  }
  ASSERT_TRUE(rig.store.saved().live.last_seq) << "the place is not within a frame";
  for (int i = 0; i < 50; ++i) rig.insert("o" + std::to_string(i), "t", 0);
  rig.pass(9s);
  rig.restart();
  rig.relay->pace({.total_rate = 0, .backlog_budget = 0});
  rig.run(300);
  EXPECT_EQ(rig.relay->counters().sent, 0);
  EXPECT_TRUE(rig.relay->lanes().live().batches().empty());
}

// It was read as live and could not be sent: by the time the broker is back it is as late as all that was not read.
TEST(Recovery, WhatWaitedAtAGateOfABrokerThatWasAwayIsBacklog) {
  RelayOptions options;
  options.lanes = true;
  options.outbound.events_in_flight = 10;
  options.ahead = 20;
  FaultRig rig(options);
  rig.topic("t", 1);
  rig.run(200);
  rig.sink->hold("t", 0);
  for (int i = 0; i < 40; ++i) rig.insert("k" + std::to_string(i), "t", 0);
  for (int i = 0; i < 90; ++i) rig.turn(), rig.pass(100ms);
  ASSERT_TRUE(rig.relay->lanes().live().batches().empty());
  ASSERT_GT(rig.relay->outbound().waiting(), 0u);
  rig.relay->pace({.total_rate = 100, .backlog_budget = 0, .live_rate = 100});
  const auto sent = static_cast<std::int64_t>(rig.relay->outbound().in_flight());
  rig.sink->let_go("t", 0);
  rig.run(300);
  EXPECT_EQ(rig.relay->counters().published, sent) << "and nothing at once";
  EXPECT_EQ(rig.relay->outbound().waiting(), 0u) << "a live event would wait behind it";
  rig.insert("other", "t", 0);
  rig.run(100);
  EXPECT_EQ(rig.relay->tallies().of(Flow::kLive).published, sent + 1);
  rig.relay->pace({.total_rate = 1'000, .backlog_budget = 1'000});
  rig.run(2'000);
  EXPECT_EQ(rig.relay->counters().published, 41);
  EXPECT_EQ(rig.arrivals.size(), 41u) << "none twice";
}

TEST(Recovery, WhatWaitedAtAGateIsJudgedBeforeItIsSent) {
  RelayOptions options;
  options.lanes = options.triage = true;
  options.outbound.events_in_flight = 10;
  FaultRig rig(options);
  rig.rules = [](std::size_t) { return model::Verdict::kDiscard; };
  rig.topic("t", 1);
  rig.run(200);
  rig.sink->hold("t", 0);
  for (int i = 0; i < 40; ++i) rig.insert("k" + std::to_string(i % 7), "t", 0);
  for (int i = 0; i < 90; ++i) rig.turn(), rig.pass(100ms);
  const std::size_t sent = rig.relay->outbound().in_flight();
  ASSERT_EQ(rig.relay->outbound().waiting(), 40 - sent);
  rig.sink->let_go("t", 0);
  rig.run(1'000);
  EXPECT_EQ(rig.arrivals.size(), sent);
  EXPECT_EQ(rig.relay->triaged().at({"rule", model::Verdict::kDiscard}), 40 - sent);
  EXPECT_FALSE(rig.broken_at_the_end());
}

// They are backlog: ahead of the rest of it, and not on live's share.
TEST(Promotion, RowsThatGoFirstWaitForTheBacklogsBudget) {
  RelayOptions options;
  options.lanes = true;
  options.promote = true;
  FaultRig rig(options);
  rig.topic("t", 1);
  rig.run(200);
  for (int i = 0; i < 50; ++i) rig.insert("k", "t", 0);
  rig.pass(9s);
  rig.restart();
  rig.relay->pace({.total_rate = 0, .backlog_budget = 0});
  rig.run(100);
  rig.insert("k", "t", 0);
  rig.run(300);
  EXPECT_EQ(rig.relay->counters().sent, 0);
  rig.relay->pace({.total_rate = 1'000, .backlog_budget = 1'000});
  rig.run(3'000);
  EXPECT_EQ(rig.relay->tallies().of(Flow::kPromoted).published, 50);
  EXPECT_EQ(rig.relay->counters().published, 51);
}

TEST(RelayFaults, LosesNothingInvertsNoKeyAndPassesNoRowWhateverHappens) {
  EXPECT_TRUE(rc::check(one_run));
  EXPECT_GT(recoveries, 0) << "lanes were hardly tried";
  EXPECT_GT(waited, 0) << "keys with backlog were hardly met";
  EXPECT_GT(promoted, 0) << "hardly a key was promoted";
  EXPECT_GT(judged, 0) << "hardly a row was judged";
}

}  // namespace
}  // namespace spillway::relay
