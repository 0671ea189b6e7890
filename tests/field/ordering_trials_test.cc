// Reports in which events of one key arrived in another order than they were written.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "field/field_report.h"

namespace spillway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> values(const std::vector<TopicRecord>& records) {
  std::vector<std::string> all;
  for (const TopicRecord& record : records) all.push_back(record.value.value_or("null"));
  return all;
}

TEST_F(FieldReport, BR001_BatchesArriveInTheOrderTheyWereWritten) {
  broker().create_topic(name(), 8);
  RelaySettings settings = proxied();
  settings.env = {{"SPILLWAY_KAFKA_MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION", "5"},
                  {"SPILLWAY_KAFKA_BATCH_NUM_MESSAGES", "100"}};
  RelayProcess relay(settings);
  relay.init();
  insert("hot", 1, 1'000);
  for (int part = 0; part < 10; ++part) insert("hot", 1'001 + part * 100, 1'100 + part * 100);
  insert_many(name(), 50, 20);
  relay.start();
  std::mt19937 random(1);
  ASSERT_TRUE(eventually(
      [&] {
        network().set_delay(std::chrono::milliseconds(20 + random() % 60));
        return published(3'000, 0ms);
      },
      60s, 30ms))
      << relay.log();
  const Delivery found = expect_complete();
  EXPECT_EQ(found.committed, 3'000);
  EXPECT_EQ(found.duplicates, 0);
}

TEST_F(FieldReport, BR003_CutConnectionsLeaveNoGapAndNoInversion) {
  broker().create_topic(name(), 3);
  RelayProcess relay(proxied());
  relay.init();
  relay.start();
  std::int64_t written = 0;
  const auto write_for = [&](std::chrono::milliseconds time) {  // about 1,000 a second
    const auto until = Clock::now() + time;
    while (Clock::now() < until) {
      insert("hot", written + 1, written + 20);
      written += 20;
      std::this_thread::sleep_for(20ms);
    }
  };
  ASSERT_TRUE(owned_by(relay));
  for (int cut = 0; cut < 9; ++cut) {
    write_for(600ms);
    switch (cut % 3) {
      case 0: network().cut(TcpProxy::Cut::kReset); break;
      case 1: network().cut(TcpProxy::Cut::kClose); break;
      case 2:
        network().set_blackhole(true);
        write_for(500ms);
        network().cut(TcpProxy::Cut::kReset);
        network().set_blackhole(false);
        break;
    }
  }
  ASSERT_TRUE(all_done()) << relay.log();
  expect_complete();
}

TEST_F(FieldReport, BR003_SettingsThatWouldBreakTheOrderAreRefusedByName) {
  struct Override {
    std::string variable, value, named;
  };
  for (const Override& bad : {Override{"ENABLE_IDEMPOTENCE", "false", "enable.idempotence"},
                              {"MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION", "6", "max.in.flight"},
                              {"ACKS", "1", "acks"},
                              {"RETRIES", "0", "retries"}}) {
    RelaySettings settings = direct();
    settings.env = {{"SPILLWAY_KAFKA_" + bad.variable, bad.value}};
    const Finished finished = RelayProcess(settings).command("run");
    EXPECT_EQ(finished.exit_status, 2) << bad.named;
    EXPECT_THAT(finished.err, HasSubstr(bad.named));
  }
}

// The rule: what is visible together goes in the order of seq; what becomes visible later goes later.
TEST_F(FieldReport, BR005_OverlappingTransactionsGoInOneStatedOrder) {
  broker().create_topic(name(), 1);
  RelayProcess relay(direct());
  relay.init();
  relay.start();
  const auto event = [&](const std::string& payload, const std::string& at) {
    return fmt::format(
        "insert into spillway.outbox (aggregatetype, aggregateid, type, payload, created_at) values ('{}', 'K', 't', "
        "'{}', {})",
        name(), payload, at);
  };
  for (const std::string at : {"now()", "'2026-01-01 00:00:00Z'"}) {
    const std::size_t before = records().size();
    OpenTransaction a(uri());
    a.run(event("v1", at));
    sql(event("v2", at));
    ASSERT_TRUE(eventually([&] { return records().size() == before + 1; }, 20s, 50ms)) << relay.log();
    a.commit();
    ASSERT_TRUE(eventually([&] { return records().size() == before + 2; }, 20s, 50ms)) << relay.log();
  }
  EXPECT_THAT(values(records()), ElementsAre("v2", "v1", "v2", "v1"));

  relay.stop();
  OpenTransaction a(uri());
  a.run(event("v3", "'2026-01-01 00:00:00Z'"));
  sql(event("v4", "'2026-01-01 00:00:00Z'"));
  a.commit();
  relay.start();
  ASSERT_TRUE(eventually([&] { return records().size() == 6; }, 20s, 50ms)) << relay.log();
  EXPECT_THAT(values(records()), ElementsAre("v2", "v1", "v2", "v1", "v3", "v4"));

  // Sent again from the beginning, as after a place that was never saved: the same order each time.
  for (int again = 1; again <= 2; ++again) {
    relay.stop();
    sql("delete from spillway.progress");
    relay.start();
    ASSERT_TRUE(eventually([&] { return records().size() == 6 + 6u * again; }, 20s, 50ms)) << relay.log();
    const auto all = values(records());
    EXPECT_THAT(std::vector(all.end() - 6, all.end()), ElementsAre("v1", "v2", "v1", "v2", "v3", "v4"));
  }
}

}  // namespace
}  // namespace spillway::testing
