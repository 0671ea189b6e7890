// Reports in which one row that cannot be sent stopped all others, or was tried for ever.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "field/field_report.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

nlohmann::json listed(const RelayProcess& relay) {
  return nlohmann::json::parse(relay.command("reconcile list --json").out);
}

std::int64_t lines_with(const std::string& log, const std::string& word) {
  std::istringstream text(log);
  std::int64_t count = 0;
  for (std::string line; std::getline(text, line);) count += line.find(word) != std::string::npos;
  return count;
}

// 2 MB that do not get smaller than the limit by compression.
std::string huge_event(const std::string& topic, const std::string& key) {
  return fmt::format(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) select '{}', '{}', 'made', "
      "string_agg(md5(random()::text), '') from generate_series(1, 65536)",
      topic, key);
}

// Told by the topic's limit, and where batches are compressed by the broker's refusal.
TEST_F(FieldReport, BR030_ARowOverTheLimitIsSetAsideAndTheOthersFlow) {
  for (const std::string compression : {"none", "lz4"}) {
    const std::string topic = name() + "-" + compression;
    broker().create_topic(topic, 3, {{"max.message.bytes", compression == "none" ? "1048588" : "20000"}});
    RelaySettings settings = direct();
    settings.env = {{"SPILLWAY_KAFKA_COMPRESSION_TYPE", compression}};
    RelayProcess relay(settings);
    relay.init();
    insert_many(topic, 100, 5);
    sql(huge_event(topic, "k50"));
    sql(
        fmt::format("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) "
                    "select '{}', 'k' || k, 'made', 'k' || k || ' ' || n "
                    "from generate_series(6, 10) n, generate_series(1, 100) k order by n, k",
                    topic));
    relay.start();
    ASSERT_TRUE(all_done()) << relay.log();
    const Delivery found = check_delivery(server(), broker().bootstrap(), topic, database());
    EXPECT_EQ(found.lost, 1) << "the row over the limit alone; later rows of its key went on";
    EXPECT_EQ(found.inversions, 0);
    EXPECT_EQ(found.duplicates, 0);
    const auto list = listed(relay);
    ASSERT_EQ(list.size(), 1U) << list;
    EXPECT_EQ(list[0]["key"], "k50");
    EXPECT_EQ(list[0]["bytes"], 2097152);
    EXPECT_THAT(std::string(list[0]["reason"]), HasSubstr(compression == "none" ? "1048588" : "SIZE"));
    std::this_thread::sleep_for(1s);
    EXPECT_LE(lines_with(relay.log(), "aside"), 2) << relay.log();
    EXPECT_EQ(relay.command("reconcile discard --all --confirm 1 --reason trial").exit_status, 0);
    relay.stop();
  }
}

TEST_F(FieldReport, BR030_UnderStopKeyTheRestOfTheKeyWaitsForAPerson) {
  broker().create_topic(name(), 3);
  RelaySettings settings = direct();
  settings.env = {{"SPILLWAY_ROUTE_ON_REJECTED", "stop_key"}};
  RelayProcess relay(settings);
  relay.init();
  relay.start();
  insert("K", 1, 5);
  sql(huge_event(name(), "K"));
  insert("K", 6, 10);
  insert("other", 1, 10);
  ASSERT_TRUE(all_done()) << relay.log();
  EXPECT_EQ(check_delivery(server(), broker().bootstrap(), name(), database()).lost, 6);
  const std::string id = value("select id from spillway.settled where verdict = 'set_aside'");
  const Finished discarded = relay.command("reconcile discard " + id + " --reason trial");
  EXPECT_EQ(discarded.exit_status, 0) << discarded.err;
  EXPECT_TRUE(eventually([&] { return records().size() == 20; }, 20s, 100ms)) << relay.log();
  EXPECT_EQ(check_delivery(server(), broker().bootstrap(), name(), database()).inversions, 0);
}

TEST_F(FieldReport, BR033_RowsForAMissingTopicWaitAloneAndGoWhenItAppears) {
  const std::string missing = name() + "-missing";
  broker().create_topic(name(), 3);
  RelaySettings settings = direct();
  settings.env = {{"SPILLWAY_ROUTE_UNKNOWN_TOPIC_AFTER", "10m"}};
  RelayProcess relay(settings);
  relay.init();
  relay.start();
  for (int round = 0; round < 10; ++round) {
    insert("k", round * 90 + 1, round * 90 + 90);
    sql(events(missing, "m", round * 10 + 1, round * 10 + 10));
  }
  ASSERT_TRUE(eventually([&] { return records().size() == 900; }, 10s, 50ms)) << relay.log();
  // One page, that names the topic; readiness is not a matter of topics.
  const auto alerted = [&] {
    const auto status = nlohmann::json::parse(relay.command("status --json").out);
    return std::ranges::count_if(status["alerts"],
                                 [&](const auto& alert) { return alert.dump().find(missing) != std::string::npos; });
  };
  EXPECT_TRUE(eventually([&] { return alerted() == 1; }, 20s, 200ms)) << relay.command("status").out;
  EXPECT_EQ(value("select count(*) from spillway.settled where verdict <> 'waiting'"), "0");
  broker().create_topic(missing);
  ASSERT_TRUE(eventually([&] { return records(missing).size() == 100; }, 10s, 50ms)) << relay.log();
  expect_complete(missing);
  EXPECT_TRUE(eventually([&] { return alerted() == 0; }, 10s, 200ms));

  // A topic that goes away while rows flow to it.
  broker().delete_topic(missing);
  for (int round = 0; round < 5; ++round) {
    sql(events(missing, "m", 101 + round * 20, 120 + round * 20));
    insert("k", 901 + round * 10, 910 + round * 10);
  }
  ASSERT_TRUE(eventually([&] { return records().size() == 950; }, 10s, 50ms)) << relay.log();
  broker().create_topic(missing);
  ASSERT_TRUE(eventually([&] { return records(missing).size() >= 100; }, 20s, 50ms)) << relay.log();
  EXPECT_EQ(check_delivery(server(), broker().bootstrap(), missing, database()).inversions, 0);
  EXPECT_EQ(expect_complete().duplicates, 0);
}

TEST_F(FieldReport, BR033_PastItsTimeAMissingTopicsRowsAreSetAside) {
  const std::string present = name() + "-present";
  broker().create_topic(present, 3);
  RelaySettings settings = direct();
  settings.env = {{"SPILLWAY_ROUTE_UNKNOWN_TOPIC_AFTER", "2s"}};
  RelayProcess relay(settings);
  relay.init();
  relay.start();
  sql(events(name() + "-never", "m", 1, 20));
  sql(events(present, "k", 1, 100));
  ASSERT_TRUE(all_done(15s)) << relay.log();
  EXPECT_EQ(expect_complete(present).committed, 100);
  EXPECT_EQ(listed(relay).size(), 20U);
}

TEST_F(FieldReport, BR035_ThreeRelaysSetABadRowAsideOnce) {
  broker().create_topic(name(), 3);
  RelayProcess one(direct()), two(direct()), three(direct());
  one.init();
  one.start();
  ASSERT_TRUE(owned_by(one));
  two.start();
  three.start();
  sql(huge_event(name(), "bad"));
  insert("good", 1, 100);
  ASSERT_TRUE(all_done()) << one.log();
  const std::string recorded = "select seq || ' ' || since || ' ' || changed_at from spillway.settled";
  const std::string before = value(recorded);
  int last = 100;
  for (RelayProcess* relay : {&one, &two, &three, &one}) {  // the lease goes round
    relay->stop();
    relay->start();
    insert("good", last + 1, last + 10);
    last += 10;
    ASSERT_TRUE(all_done(15s)) << relay->log();
  }
  EXPECT_EQ(value(recorded), before);
  EXPECT_LE(lines_with(one.log() + two.log() + three.log(), "aside"), 2);
  EXPECT_EQ(check_delivery(server(), broker().bootstrap(), name(), database()).lost, 1);
}

}  // namespace
}  // namespace spillway::testing
