#include "relay/relay.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "relay/relay_rig.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;
using Values = std::vector<std::string>;

TEST(Relay, CarriesRowsInOrderAndSavesOnlyWhatWasAcknowledged) {
  RelayRig rig;
  rig.topic("events");
  for (int i = 1; i <= 3; ++i) rig.insert("a", "events", std::to_string(i));
  rig.sink->deliver(2);
  rig.run();
  EXPECT_EQ(rig.firsts("a"), (Values{"1", "2"}));
  EXPECT_EQ(rig.saved_seq(), 2);
  rig.sink->deliver(-1);
  rig.run();
  EXPECT_EQ(rig.saved_seq(), 3);
  EXPECT_EQ(rig.relay->counters().published, 3);
}

TEST(Relay, SendsEachRowOnceHoweverLongTheBrokerTakes) {
  RelayRig rig;
  rig.topic("events");
  for (int i = 0; i < 1000; ++i) rig.insert("k" + std::to_string(i % 10));
  rig.sink->deliver(0);
  rig.run();
  rig.pass(1min);
  rig.run();
  rig.sink->deliver(-1);
  rig.run();
  EXPECT_EQ(rig.arrived().size(), 1000u);
}

TEST(Relay, SetsARefusedRowAsideAndLetsTheOthersGo) {
  RelayRig rig;
  rig.topic("events");
  for (int i = 1; i <= 9; ++i) rig.insert("a", "events", std::to_string(i));
  rig.sink->reject_if([](const ports::StoredRecord& r) -> std::optional<std::string> {
    if (r.value == "5") return "too large";
    return std::nullopt;
  });
  rig.run();
  EXPECT_EQ(rig.firsts("a"), (Values{"1", "2", "3", "4", "6", "7", "8", "9"}));
  ASSERT_EQ(rig.settled().size(), 1u);
  EXPECT_EQ(rig.settled().begin()->second.seq, 5);
  EXPECT_EQ(rig.settled().begin()->second.reason, "too large");
  EXPECT_EQ(rig.saved_seq(), 9) << "the place passes a row that is recorded";
}

TEST(Relay, SendsARefusedRowOnce) {
  RelayRig rig;
  rig.topic("events", 1);
  int sent = 0;
  rig.sink->reject_if([&](const ports::StoredRecord& r) -> std::optional<std::string> {
    if (r.value != "2") return std::nullopt;
    ++sent;
    return "too large";
  });
  for (int i = 1; i <= 3; ++i) rig.insert("a", "events", std::to_string(i));
  rig.run();
  EXPECT_EQ(sent, 1);
  EXPECT_EQ(rig.settled().at(2).reason, "too large");
  EXPECT_EQ(rig.settled().at(2).key, "a");
}

TEST(Relay, StopsTheKeyBehindARefusedRowWhenAskedTo) {
  RelayOptions options;
  options.stop_key = true;
  RelayRig rig(options);
  rig.topic("events");
  bool refuse = true;
  const auto judge = [&](const ports::StoredRecord& r) -> std::optional<std::string> {
    if (refuse && r.value == "1") return "too large";
    return std::nullopt;
  };
  rig.sink->reject_if(judge);
  rig.insert("a", "events", "1");
  rig.run();
  rig.insert("a", "events", "2");
  rig.insert("b", "events", "3");
  rig.run();
  EXPECT_EQ(rig.firsts("a"), Values{});
  EXPECT_EQ(rig.firsts("b"), Values{"3"});
  EXPECT_EQ(rig.saved_seq(), 3);

  rig.restart();
  rig.sink->reject_if(judge);
  rig.insert("a", "events", "4");
  rig.run();
  EXPECT_EQ(rig.firsts("a"), Values{}) << "the stop outlives a restart";

  refuse = false;
  for (auto& [seq, s] : rig.settled()) {
    if (s.key == "a" && seq < 4) s.state = model::SettlementState::kReleased;  // what `reconcile publish` does
  }
  rig.pass(2s);
  rig.run();
  rig.insert("a", "events", "5");
  rig.pass(2s);
  rig.run();
  EXPECT_EQ(rig.firsts("a"), (Values{"1", "2", "4", "5"}));
}

TEST(Relay, AMissingTopicHoldsOnlyItsOwnRowsAndTheyFlowInOrderWhenItAppears) {
  RelayRig rig;
  rig.topic("events");
  for (int i = 1; i <= 20; ++i) rig.insert("a", i % 2 ? "later" : "events", std::to_string(i));
  rig.run();
  rig.pass(5s);
  rig.run();
  EXPECT_EQ(rig.arrived().size(), 10u);
  EXPECT_EQ(rig.saved_seq(), 0);
  rig.topic("later");
  rig.run();
  EXPECT_EQ(rig.arrived().size(), 20u);
  EXPECT_EQ(rig.saved_seq(), 20);
  std::vector<ports::StoredRecord> later;
  for (auto& r : rig.arrived()) {
    if (r.topic == "later") later.push_back(r);
  }
  for (std::size_t i = 0; i < later.size(); ++i) EXPECT_EQ(later[i].value, std::to_string(2 * i + 1));
}

TEST(Relay, RowsForATopicThatNeverAppearsAreSetAsideInTime) {
  RelayRig rig;
  rig.topic("events");
  rig.insert("a", "nowhere", "1");
  rig.insert("b", "events", "2");
  rig.run();
  EXPECT_TRUE(rig.settled().empty());
  rig.pass(31s);
  rig.run();
  ASSERT_EQ(rig.settled().size(), 1u);
  EXPECT_EQ(rig.settled().begin()->second.topic, "nowhere");
  EXPECT_EQ(rig.saved_seq(), 2);
}

// Otherwise the rows before it count as waiting, and would be sent again after a crash, for as long as nothing arrives.
TEST(Relay, ThePlaceBehindALastRowThatWasSetAsideIsSavedSoon) {
  RelayRig rig;
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
  RelayRig rig(options);
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
  for (int i = 0; i < 5'000; ++i) rig.insert(i % 2 ? "a" : other, "events", std::to_string(i));
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
  EXPECT_EQ(rig.arrived().size(), 5'001u) << "each row once";
  EXPECT_EQ(rig.saved_seq(), 5'001);
  const auto values = rig.firsts("a");
  EXPECT_TRUE(
      std::is_sorted(values.begin() + 1, values.end(), [](auto& x, auto& y) { return std::stoi(x) < std::stoi(y); }));
}

TEST(Relay, RetriesTheSaveAndNotTheSendWhenTheLedgerFails) {
  RelayRig rig;
  rig.topic("events");
  rig.run(5);
  rig.ledger_fault = base::Error{base::ErrorClass::kUnavailable, "gone"};
  for (int i = 0; i < 100; ++i) rig.insert("a", "events", std::to_string(i));
  for (int i = 0; i < 50; ++i) {
    rig.run(10);
    rig.pass(1s);
  }
  EXPECT_EQ(rig.arrived().size(), 100u);
  EXPECT_EQ(rig.saved_seq(), 0);
  rig.ledger_fault.reset();
  rig.pass(6s);
  rig.run();
  EXPECT_EQ(rig.arrived().size(), 100u);
  EXPECT_EQ(rig.saved_seq(), 100);
}

TEST(Relay, LoadsTheSavedPlaceAgainWhenTheServersLifeChanged) {
  RelayRig rig;
  rig.topic("events");
  rig.insert("a", "events", "1");
  rig.run();
  rig.sink->deliver(0);
  rig.insert("a", "events", "2");
  rig.run(10);
  rig.read_fault = base::Error{base::ErrorClass::kLostPlace, "the server crashed"};
  rig.pass(1s);
  rig.turn();
  rig.read_fault.reset();
  rig.sink->deliver(-1);
  rig.pass(1s);
  rig.run();
  EXPECT_EQ(rig.firsts("a"), (Values{"1", "2"}));
  EXPECT_EQ(rig.saved_seq(), 2);
  EXPECT_EQ(rig.relay->counters().forgotten, 2) << "once for the lease, once for the crash";
}

TEST(Relay, SendsNothingAfterItLostTheLease) {
  RelayRig rig;
  rig.topic("events");
  rig.run(5);
  rig.relay->lease_lost();
  rig.insert("a");
  rig.run();
  EXPECT_TRUE(rig.arrived().empty());
  EXPECT_FALSE(rig.relay->next_ledger(rig.now + 1h));
}

TEST(Relay, DrainsWhatIsOutAndSavesIt) {
  RelayRig rig;
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
  EXPECT_EQ(rig.arrived().size(), 10u);
  EXPECT_EQ(rig.saved_seq(), 10);
}

// One life of random faults after another; whatever happens, nothing is lost and no key is inverted.
TEST(Relay, LosesNothingAndInvertsNoKeyUnderRandomFaults) {
  EXPECT_TRUE(rc::check([] {
    RelayOptions options;
    options.outbound.events_in_flight = *rc::gen::element(4, 40, 20'000);
    options.ahead = *rc::gen::element<std::size_t>(10, 100'000);
    RelayRig rig(options);
    rig.topic("events", *rc::gen::inRange(1, 4));
    int number = 0;
    const int steps = *rc::gen::inRange(20, 120);
    for (int step = 0; step < steps; ++step) {
      switch (*rc::gen::inRange(0, 12)) {
        case 0:
        case 1:
        case 2:
          for (int i = 0, n = *rc::gen::inRange(1, 30); i < n; ++i) {
            rig.insert("k" + std::to_string(*rc::gen::inRange(0, 4)), "events", std::to_string(++number));
          }
          break;
        case 3: rig.restart(); break;
        case 4: rig.sink->break_producer("fatal", static_cast<std::size_t>(*rc::gen::inRange(0, 5))); break;
        case 5: rig.sink->hold("events", 0); break;
        case 6: rig.sink->let_go("events", 0); break;
        case 7:
          rig.read_fault =
              base::Error{*rc::gen::element(base::ErrorClass::kLostPlace, base::ErrorClass::kUnavailable), "x"};
          break;
        case 8:
          rig.ledger_fault =
              base::Error{*rc::gen::element(base::ErrorClass::kLostPlace, base::ErrorClass::kUnavailable), "x"};
          break;
        case 9: rig.read_fault.reset(), rig.ledger_fault.reset(); break;
        case 10: rig.sink->deliver(*rc::gen::inRange(0, 20)); break;
        case 11: rig.pass(std::chrono::milliseconds(*rc::gen::inRange(0, 3000))); break;
      }
      switch (*rc::gen::inRange(0, 5)) {
        case 0: rig.ask(); break;
        case 1: rig.answer_read(); break;
        case 2: rig.answer_ledger(); break;
        case 3: rig.answer_sink(); break;
        case 4: rig.run(5); break;
      }
      rig.pass(1ms);
    }
    rig.read_fault.reset();
    rig.ledger_fault.reset();
    rig.sink->deliver(-1);
    rig.sink->let_go("events", 0);
    for (int i = 0; i < 40; ++i) {
      rig.run(20);
      rig.pass(1s);
    }
    std::set<std::string> seen;
    for (const auto& r : rig.arrived()) seen.insert(*r.value);
    RC_ASSERT(seen.size() == static_cast<std::size_t>(number));
    RC_ASSERT(rig.saved_seq() == number);
    for (int k = 0; k < 4; ++k) {
      const auto firsts = rig.firsts("k" + std::to_string(k));
      RC_ASSERT(
          std::is_sorted(firsts.begin(), firsts.end(), [](auto& x, auto& y) { return std::stoi(x) < std::stoi(y); }));
    }
  }));
}

}  // namespace
}  // namespace spillway::relay
