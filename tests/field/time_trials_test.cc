// Reports in which a unit or a zone of time was mistaken for another.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "field/field_report.h"

namespace spillway::testing {
namespace {

TEST_F(FieldReport, BR041_RecordTimesAreMillisecondsWhateverTheRowSays) {
  broker().create_topic(name(), 1);
  RelayProcess relay(direct());
  relay.init();
  struct Case {
    std::string created_at;
    bool own;  // the row's own time is the record's
  };
  const std::vector<Case> cases = {{"'2026-01-02 03:04:05.678901+00'", true},
                                   {"clock_timestamp() + interval '30 seconds'", true},
                                   {"clock_timestamp() + interval '2 hours'", false},
                                   {"'1969-12-31 23:59:59+00'", false},
                                   {"'9999-12-31 00:00:00+00'", false},
                                   {"'infinity'", false},
                                   {"'-infinity'", false},
                                   {"null", false}};
  for (const Case& c : cases) {
    sql(
        fmt::format("insert into spillway.outbox (aggregatetype, aggregateid, type, payload, created_at) "
                    "values ('{}', 'k', 't', 'v', {})",
                    name(), c.created_at));
  }
  const std::int64_t before = std::stoll(value("select (extract(epoch from clock_timestamp()) * 1000)::bigint"));
  relay.start();
  ASSERT_TRUE(published(static_cast<std::int64_t>(cases.size()))) << relay.log();
  const std::int64_t after = std::stoll(value("select (extract(epoch from clock_timestamp()) * 1000)::bigint"));
  const auto found = records();
  ASSERT_EQ(found.size(), cases.size());
  EXPECT_EQ(found[0].timestamp_ms, 1767323045678);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(found[i].header("spillway-created-at").has_value(), !cases[i].own) << cases[i].created_at;
    if (cases[i].own) continue;
    EXPECT_GE(found[i].timestamp_ms, before - 1) << cases[i].created_at;
    EXPECT_LE(found[i].timestamp_ms, after + 1) << cases[i].created_at;
  }
  EXPECT_EQ(found[5].header("spillway-created-at"), "infinity");

  // With such rows waiting, no age is negative or absurd.
  relay.stop();
  for (const Case& c : cases) {
    if (c.own) continue;
    sql(
        fmt::format("insert into spillway.outbox (aggregatetype, aggregateid, type, payload, created_at) "
                    "values ('{}', 'k', 't', 'v', {})",
                    name(), c.created_at));
    const auto status = nlohmann::json::parse(relay.command("status --json").out);
    const auto age = status["backlog"]["oldest_age_s"];
    if (age.is_null()) continue;
    EXPECT_GE(age.get<double>(), 0) << c.created_at;
    EXPECT_LE(age.get<double>(), 60) << c.created_at;
  }
}

TEST_F(FieldReport, BR044_ZonesOfDatabaseAndRelayDoNotMatter) {
  sql("alter database " + database() + " set timezone = 'Asia/Tokyo'");
  broker().create_topic(name(), 1);
  RelaySettings settings = direct();
  settings.env = {{"TZ", "America/New_York"}, {"SPILLWAY_ROUTE_UNKNOWN_TOPIC_AFTER", "2s"}};
  RelayProcess relay(settings);
  relay.init();
  relay.start();
  ASSERT_TRUE(owned_by(relay));
  const auto start = Clock::now();
  insert("k", 1, 10);
  ASSERT_TRUE(published(10, 5s)) << relay.log();
  const std::int64_t now = std::stoll(value("select (extract(epoch from clock_timestamp()) * 1000)::bigint"));
  for (const TopicRecord& record : records()) EXPECT_LE(std::abs(now - record.timestamp_ms), 10'000);
  // What waits for its time waits that long and not hours, also with another zone for the role's later sessions.
  sql("alter role postgres in database " + database() + " set timezone = 'America/Los_Angeles'");
  sql(events(name() + "-missing", "k", 1, 1));
  ASSERT_TRUE(all_done(15s)) << relay.log();
  EXPECT_GE(Clock::now() - start, 2s);
  relay.stop();
  RelayProcess second(settings);
  second.start();  // the lease's times are the database's as well
  EXPECT_TRUE(owned_by(second, 5s));
  EXPECT_LE(std::stod(value("select extract(epoch from expires_at - clock_timestamp()) from spillway.lease")), 11);
}

}  // namespace
}  // namespace spillway::testing
