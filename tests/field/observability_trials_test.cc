// Reports in which figures said that all was well, or that it was not, and neither was true; and in which logs said too
// much.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "field/field_report.h"
#include "field/http_get.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAge = "spillway_backlog_oldest_age_seconds";

nlohmann::json status(const RelayProcess& relay) { return nlohmann::json::parse(relay.command("status --json").out); }

bool alerts(const RelayProcess& relay, const std::string& name) {
  return status(relay)["alerts"].dump().find("\"" + name + "\"") != std::string::npos;
}

TEST_F(FieldReport, BR070_AStandstillIsVisibleHoweverItCame) {
  broker().create_topic(name(), 1);
  RelayProcess relay(direct());
  relay.init();
  relay.start();
  ASSERT_TRUE(owned_by(relay));
  ASSERT_EQ(relay.command("pause --reason trial").exit_status, 0);
  ASSERT_TRUE(eventually([&] { return relay.log().find("paused: trial") != std::string::npos; }));
  insert("k", 1, 500);
  const auto age = [&] { return status(relay)["backlog"]["oldest_age_s"].get<double>(); };
  const auto grows = [&](const std::string& when) {
    const double before = age();
    EXPECT_TRUE(eventually([&] { return age() >= before + 1; }, 5s, 200ms)) << when;
  };

  grows("paused");
  EXPECT_TRUE(alerts(relay, "paused"));
  const auto& port = relay.http_port();
  const std::string body = http_get(port, "/metrics")->body;
  EXPECT_THAT(body, HasSubstr("spillway_paused{lane=\"live\"} 1"));
  EXPECT_THAT(body, HasSubstr(kAge));

  // The query behind the gauges fails: their age is there to be seen.
  {
    OpenTransaction blocking(uri());
    blocking.run("lock table spillway.outbox in access exclusive mode");
    std::this_thread::sleep_for(7s);
    const auto stuck = metric(port, "spillway_refresh_timestamp_seconds");
    ASSERT_TRUE(stuck);
    EXPECT_LE(*stuck, static_cast<double>(std::time(nullptr)) - 4) << "older than the two refreshes that failed";
  }
  EXPECT_TRUE(eventually(
      [&] { return metric(port, "spillway_refresh_timestamp_seconds") >= static_cast<double>(std::time(nullptr)) - 3; },
      15s, 200ms));

  relay.freeze();
  grows("frozen");
  EXPECT_TRUE(alerts(relay, "relay_silent") || alerts(relay, "relay_frozen")) << status(relay);
  relay.thaw();

  relay.stop();
  grows("no owner");
  EXPECT_TRUE(alerts(relay, "no_owner"));
  EXPECT_EQ(relay.command("status --check").exit_status, 3);
}

TEST_F(FieldReport, BR072_ASteadyFlowIsNoStallAndOneStalledTopicDoesNotMakeTheProcessUnready) {
  broker().create_topic(name(), 3);
  RelaySettings settings = direct();
  settings.env = {{"SPILLWAY_ROUTE_UNKNOWN_TOPIC_AFTER", "10m"}};
  RelayProcess relay(settings);
  relay.init();
  relay.start();
  ASSERT_TRUE(owned_by(relay));
  ASSERT_TRUE(eventually([&] { return http_status(relay.http_port(), "/readyz") == 200; }));
  const auto start = Clock::now();
  std::int64_t written = 0;
  for (int looks = 0; Clock::now() - start < 12s; ++looks) {
    insert("k", written + 1, written + 20);
    written += 20;
    std::this_thread::sleep_for(40ms);
    if (looks % 20 != 0) continue;
    EXPECT_EQ(http_status(relay.http_port(), "/readyz"), 200U);
    EXPECT_EQ(http_status(relay.http_port(), "/healthz"), 200U);
    EXPECT_EQ(status(relay)["alerts"].size(), 0U) << status(relay)["alerts"];
  }
  sql(events(name() + "-missing", "K", 1, 1));
  EXPECT_TRUE(eventually([&] { return alerts(relay, "partition_stuck"); }, 20s, 500ms)) << status(relay);
  EXPECT_EQ(http_status(relay.http_port(), "/readyz"), 200U);
  EXPECT_EQ(http_status(relay.http_port(), "/healthz"), 200U);
}

TEST_F(FieldReport, BR075_APauseOutlivesEveryRestart) {
  broker().create_topic(name(), 1);
  RelayProcess one(direct()), two(direct());
  one.init();
  one.start();
  ASSERT_TRUE(owned_by(one));
  ASSERT_EQ(one.command("pause --reason maintenance").exit_status, 0);
  ASSERT_TRUE(eventually([&] { return one.log().find("paused: maintenance") != std::string::npos; }, 3s)) << one.log();
  insert("k", 1, 100);
  const auto holds = [&](RelayProcess& relay) {
    ASSERT_TRUE(owned_by(relay)) << relay.log();
    std::this_thread::sleep_for(1500ms);
    EXPECT_TRUE(records().empty());
    const auto paused = status(relay)["paused"].dump();
    EXPECT_THAT(paused, HasSubstr("maintenance"));
  };
  one.stop();
  one.start();
  holds(one);
  one.kill9();
  two.start();
  holds(two);
  EXPECT_THAT(two.command("status").out, HasSubstr("maintenance"));
  ASSERT_EQ(two.command("resume --reason done").exit_status, 0);
  ASSERT_TRUE(all_done()) << two.log();
  EXPECT_EQ(expect_complete().duplicates, 0);
}

TEST_F(FieldReport, BR078_NoPayloadKeyOrHeaderReachesTheLog) {
  broker().create_topic(name(), 1);
  broker().create_topic(name() + "-small", 1, {{"max.message.bytes", "2000"}});
  RelaySettings settings = direct();
  settings.env = {{"SPILLWAY_LOG_LEVEL", "debug"},
                  {"SPILLWAY_ROUTE_UNKNOWN_TOPIC_AFTER", "1s"},
                  {"SPILLWAY_KAFKA_COMPRESSION_TYPE", "lz4"}};
  RelayProcess relay(settings);
  relay.init();
  relay.start();
  const auto marked = [&](const std::string& topic, const std::string& size, const std::string& headers) {
    sql(
        fmt::format("insert into spillway.outbox (aggregatetype, aggregateid, type, payload, headers) select '{}', "
                    "'KEYMARK', 't', 'PAYLOADMARK' || string_agg(md5(random()::text), ''), '{}' "
                    "from generate_series(1, {})",
                    topic, headers, size));
  };
  marked(name(), "1", R"({"h": "HEADERMARK"})");
  marked(name(), "1", R"(["HEADERMARK"])");                     // no object: refused by the relay
  marked(name() + "-small", "1000", R"({"h": "HEADERMARK"})");  // refused by the broker
  marked(name() + "-missing", "1", R"({"h": "HEADERMARK"})");
  marked("bad topic/name", "1", R"({"h": "HEADERMARK"})");
  ASSERT_TRUE(all_done()) << relay.log();
  EXPECT_EQ(value("select count(*) from spillway.settled"), "4");
  ::kill(relay.pid(), SIGABRT);
  EXPECT_TRUE(eventually([&] { return !relay.running(); }));
  for (const char* mark : {"PAYLOADMARK", "KEYMARK", "HEADERMARK"}) {
    EXPECT_THAT(relay.log(), Not(HasSubstr(mark)));
    EXPECT_THAT(value("select coalesce(string_agg(reason, ' '), '') from spillway.settled"), Not(HasSubstr(mark)));
  }
}

}  // namespace
}  // namespace spillway::testing
