#include "relay/relay.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "relay/fault_rig.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;
using Numbers = std::vector<std::size_t>;

TEST(Relay, CarriesRowsInOrderAndSavesOnlyWhatWasAcknowledged) {
  FaultRig rig({});
  rig.topic("events");
  for (int i = 1; i <= 3; ++i) rig.insert("a");
  rig.sink->deliver(2);
  rig.run();
  EXPECT_EQ(rig.firsts("a"), (Numbers{1, 2}));
  EXPECT_EQ(rig.passed(), 2u);
  rig.sink->deliver(-1);
  rig.run();
  EXPECT_EQ(rig.passed(), 3u);
  EXPECT_EQ(rig.relay->counters().published, 3);
}

TEST(Relay, SendsEachRowOnceHoweverLongTheBrokerTakes) {
  FaultRig rig({});
  rig.topic("events");
  for (int i = 0; i < 1000; ++i) rig.insert("k" + std::to_string(i % 10));
  rig.sink->deliver(0);
  rig.run();
  rig.pass(1min);
  rig.run();
  rig.sink->deliver(-1);
  rig.run();
  EXPECT_EQ(rig.arrivals.size(), 1000u);
}

TEST(Relay, SetsARefusedRowAsideAndLetsTheOthersGo) {
  FaultRig rig({});
  rig.topic("events");
  for (int i = 1; i <= 9; ++i) rig.insert("a");
  rig.refuse({5});
  rig.run();
  EXPECT_EQ(rig.firsts("a"), (Numbers{1, 2, 3, 4, 6, 7, 8, 9}));
  const auto recorded = rig.recorded();
  ASSERT_EQ(recorded.size(), 1u);
  EXPECT_EQ(recorded.begin()->first, rig.seq_of(5));
  EXPECT_EQ(recorded.begin()->second.reason, "refused");
  EXPECT_EQ(rig.passed(), 9u) << "the place passes a row that is recorded";
}

TEST(Relay, SendsARefusedRowOnce) {
  FaultRig rig({});
  rig.topic("events", 1);
  rig.refuse({2});
  for (int i = 1; i <= 3; ++i) rig.insert("a");
  rig.run();
  EXPECT_EQ(rig.relay->counters().sent, 3);
  EXPECT_EQ(rig.recorded().at(rig.seq_of(2)).reason, "refused");
  EXPECT_EQ(rig.recorded().at(rig.seq_of(2)).key, "a");
}

TEST(Relay, StopsTheKeyBehindARefusedRowWhenAskedTo) {
  RelayOptions options;
  options.stop_key = true;
  FaultRig rig(options);
  rig.topic("events");
  rig.refuse({1});
  rig.insert("a");
  rig.run();
  rig.insert("a");
  rig.insert("b");
  rig.run();
  EXPECT_EQ(rig.firsts("a"), Numbers{});
  EXPECT_EQ(rig.firsts("b"), Numbers{3});
  EXPECT_EQ(rig.passed(), 3u);

  rig.restart();
  rig.insert("a");
  rig.run();
  EXPECT_EQ(rig.firsts("a"), Numbers{}) << "the stop outlives a restart";

  rig.refuse({});
  rig.resolve_one(model::Verdict::kPublish);
  rig.pass(2s);
  rig.run();
  rig.insert("a");
  rig.pass(2s);
  rig.run();
  EXPECT_EQ(rig.firsts("a"), (Numbers{1, 2, 4, 5}));
}

TEST(Relay, AMissingTopicHoldsOnlyItsOwnRowsAndTheyFlowInOrderWhenItAppears) {
  FaultRig rig({});
  rig.topic("events");
  for (int i = 1; i <= 20; ++i) rig.insert("a", i % 2 ? "later" : "events");
  rig.run();
  rig.pass(5s);
  rig.run();
  EXPECT_EQ(rig.arrivals.size(), 10u);
  EXPECT_EQ(rig.passed(), 0u);
  rig.topic("later");
  rig.run();
  EXPECT_EQ(rig.arrivals.size(), 20u);
  EXPECT_EQ(rig.passed(), 20u);
  EXPECT_TRUE(std::is_sorted(rig.arrivals.begin() + 10, rig.arrivals.end()));
}

TEST(Relay, RowsForATopicThatNeverAppearsAreSetAsideInTime) {
  FaultRig rig({});
  rig.topic("events");
  rig.insert("a", "nowhere");
  rig.insert("b");
  rig.run();
  EXPECT_TRUE(rig.recorded().empty());
  rig.pass(31s);
  rig.run();
  ASSERT_EQ(rig.recorded().size(), 1u);
  EXPECT_EQ(rig.recorded().at(rig.seq_of(1)).topic, "nowhere");
  EXPECT_EQ(rig.passed(), 2u);
}

// Otherwise the rows before it count as waiting, and would be sent again after a crash, for as long as nothing arrives.
TEST(Relay, ThePlaceBehindALastRowThatWasSetAsideIsSavedSoon) {
  FaultRig rig({});
  LedgerAnswer answer;
  ASSERT_EQ(rig.relay->next_ledger(rig.now)->kind, LedgerRequest::Kind::kLoad);
  answer.kind = LedgerRequest::Kind::kLoad;
  answer.loaded = {ports::Progress{}, "life 1"};
  rig.relay->ledger_done(answer, rig.now);
  ASSERT_TRUE(rig.relay->next_read(rig.now));
  model::Page page;
  model::Row row;
  row.seq = 1;
  row.aggregate_type = "events";
  row.headers = "[]";  // no object: can never be sent
  page.rows.push_back(row);
  page.frame = {"", "s1"};
  page.next = {{"s1", ""}, std::nullopt};
  rig.relay->read_done(std::move(page), rig.now);
  ASSERT_EQ(rig.relay->next_ledger(rig.now)->kind, LedgerRequest::Kind::kRecord);
  answer.kind = LedgerRequest::Kind::kRecord;
  rig.relay->ledger_done(answer, rig.now);
  rig.pass(200ms);
  const auto save = rig.relay->next_ledger(rig.now);
  ASSERT_TRUE(save);
  ASSERT_EQ(save->kind, LedgerRequest::Kind::kSave);
  EXPECT_EQ(save->save.progress.live.frame.from, "s1");
}

TEST(Relay, APartitionThatTakesNothingHoldsBackOnlyItsOwnKeysUpToTheLimit) {
  RelayOptions options;
  options.outbound.events_in_flight = 400;
  options.ahead = 2'000;
  FaultRig rig(options);
  rig.topic("events", 2);
  const auto stuck = rig.sink->topic_id("events");
  rig.insert("a");
  rig.run();
  const std::int32_t held = rig.sink->partition_for(stuck, "a");
  std::string other;
  for (int i = 0; other.empty(); ++i) {
    if (rig.sink->partition_for(stuck, "o" + std::to_string(i)) != held) other = "o" + std::to_string(i);
  }
  rig.sink->hold("events", held);
  for (int i = 0; i < 5'000; ++i) rig.insert(i % 2 ? "a" : other);
  for (int i = 0; i < 20; ++i) {
    rig.run(100);
    rig.pass(300ms);
  }
  EXPECT_GE(rig.firsts(other).size(), 2'000u) << "on to the limit";
  EXPECT_LE(rig.firsts(other).size(), 2'100u) << "and no further than what was out already";
  EXPECT_TRUE(rig.relay->held_by_ahead());
  ASSERT_EQ(rig.relay->outbound().stuck(rig.now).size(), 1u);
  EXPECT_EQ(rig.relay->outbound().stuck(rig.now).front().partition, held);

  rig.sink->let_go("events", held);
  rig.run(3'000);
  EXPECT_EQ(rig.arrivals.size(), 5'001u) << "each row once";
  EXPECT_EQ(rig.passed(), 5'001u);
  EXPECT_TRUE(std::ranges::is_sorted(rig.firsts("a")));
}

TEST(Relay, RetriesTheSaveAndNotTheSendWhenTheLedgerFails) {
  FaultRig rig({});
  rig.topic("events");
  rig.run(5);
  rig.ledger_fault = base::Error{base::ErrorClass::kUnavailable, "gone"};
  for (int i = 0; i < 100; ++i) rig.insert("a");
  for (int i = 0; i < 50; ++i) {
    rig.run(10);
    rig.pass(1s);
  }
  EXPECT_EQ(rig.arrivals.size(), 100u);
  EXPECT_EQ(rig.passed(), 0u);
  rig.ledger_fault.reset();
  rig.pass(6s);
  rig.run();
  EXPECT_EQ(rig.arrivals.size(), 100u);
  EXPECT_EQ(rig.passed(), 100u);
}

TEST(Relay, LoadsTheSavedPlaceAgainWhenTheServersLifeChanged) {
  FaultRig rig({});
  rig.topic("events");
  rig.insert("a");
  rig.run();
  rig.sink->deliver(0);
  rig.insert("a");
  rig.run(10);
  rig.read_fault = base::Error{base::ErrorClass::kLostPlace, "the server crashed"};
  rig.pass(1s);
  rig.turn();
  rig.read_fault.reset();
  rig.sink->deliver(-1);
  rig.pass(1s);
  rig.run();
  EXPECT_EQ(rig.firsts("a"), (Numbers{1, 2}));
  EXPECT_EQ(rig.passed(), 2u);
  EXPECT_EQ(rig.relay->counters().forgotten, 2) << "once for the lease, once for the crash";
}

TEST(Relay, SendsNothingAfterItLostTheLease) {
  FaultRig rig({});
  rig.topic("events");
  rig.run(5);
  rig.relay->lease_lost();
  rig.insert("a");
  rig.run();
  EXPECT_TRUE(rig.arrivals.empty());
  EXPECT_FALSE(rig.relay->next_ledger(rig.now + 1h));
}

TEST(Relay, DrainsWhatIsOutAndSavesIt) {
  FaultRig rig({});
  rig.topic("events");
  rig.run(5);
  rig.sink->deliver(0);
  for (int i = 0; i < 10; ++i) rig.insert("a");
  rig.run(20);
  rig.relay->drain();
  for (int i = 0; i < 10; ++i) rig.insert("a");
  rig.run(20);
  EXPECT_FALSE(rig.relay->drained());
  rig.sink->deliver(-1);
  rig.run(20);
  EXPECT_TRUE(rig.relay->drained());
  EXPECT_EQ(rig.arrivals.size(), 10u);
  EXPECT_EQ(rig.passed(), 10u);
}

}  // namespace
}  // namespace spillway::relay
