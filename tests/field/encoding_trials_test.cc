// Reports in which the bytes on the topic were not the bytes that were written.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "field/field_report.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

// One outbox for each type of the payload column, side by side in one database.
struct TypedOutbox {
  std::string type;
  RelaySettings settings;
  std::string table() const { return "spillway.outbox_" + type; }
};

TypedOutbox typed(RelaySettings settings, const std::string& type) {
  settings.env["SPILLWAY_OUTBOX_TABLE"] = "spillway.outbox_" + type;
  settings.env["SPILLWAY_OUTBOX_NAME"] = type;
  return {type, std::move(settings)};
}

std::string insert_payload(const TypedOutbox& outbox, const std::string& topic, const std::string& payload) {
  return fmt::format(
      "insert into {} (aggregatetype, aggregateid, type, payload) values ('{}', 'k', 't', {}) returning id",
      outbox.table(), topic, payload);
}

TEST_F(FieldReport, BR036_NulCharactersArriveAsTheyAre) {
  for (const std::string type : {"json", "bytea"}) {
    const std::string topic = name() + "-" + type;
    TypedOutbox outbox = typed(direct(), type);
    outbox.settings.env["SPILLWAY_ROUTE_UNKNOWN_TOPIC_AFTER"] = "500ms";
    RelayProcess relay(outbox.settings);
    relay.init("--payload " + type);
    const std::string expected = type == "json" ? R"({"a": "x\u0000y"})" : std::string("x\0y", 3);
    const std::string literal = type == "json" ? R"('{"a": "x\u0000y"}')" : R"('\x780079')";
    // First through the reconcile list: the topic does not exist.
    const std::string id = value(insert_payload(outbox, topic, literal));
    relay.start();
    ASSERT_TRUE(eventually(
        [&] { return value("select count(*) from spillway.settled where id = '" + id + "'") == "1"; }, 15s, 50ms))
        << relay.log();
    EXPECT_EQ(relay.command("reconcile show " + id).exit_status, 0);
    broker().create_topic(topic);
    // Until the relay has seen the new topic the row comes back into the list.
    const auto published = [&] {
      relay.command("reconcile publish " + id + " --reason trial");
      return eventually([&] { return records(topic).size() == 1; }, 3s, 50ms);
    };
    ASSERT_TRUE(eventually(published, 15s)) << relay.log();
    // And the straight way.
    sql(insert_payload(outbox, topic, literal));
    ASSERT_TRUE(eventually([&] { return records(topic).size() == 2; }, 15s, 50ms)) << relay.log();
    for (const TopicRecord& record : records(topic)) EXPECT_EQ(record.value, expected) << type;
    EXPECT_THROW(sql(fmt::format("insert into {} (aggregatetype, aggregateid, type, headers) values ('t', 'k', 't', "
                                 "'{{\"h\": \"\\u0000\"}}')",
                                 outbox.table())),
                 std::runtime_error)
        << "jsonb refuses it at the insert, so nothing is lost later";
  }
}

TEST_F(FieldReport, BR037_PayloadsAreNotRenderedAgain) {
  const std::string document = R"({"z": 1, "a":  2, "a": 3, "n": 1.0, "e": 1e2})";
  for (const std::string type : {"text", "json", "bytea", "jsonb"}) {
    const std::string topic = name() + "-" + type;
    broker().create_topic(topic);
    const TypedOutbox outbox = typed(direct(), type);
    RelayProcess relay(outbox.settings);
    relay.init("--payload " + type);
    relay.start();
    sql(insert_payload(outbox, topic, "'" + document + "'"));
    ASSERT_TRUE(eventually([&] { return records(topic).size() == 1; }, 15s, 50ms)) << relay.log();
    const std::string rendered = value("select '" + document + "'::jsonb::text");
    EXPECT_EQ(records(topic)[0].value, type == "jsonb" ? rendered : document) << type;
    EXPECT_EQ(relay.log().find("is jsonb: events carry PostgreSQL's rendering") != std::string::npos, type == "jsonb");
  }
}

TEST_F(FieldReport, BR039_NullAndEmptyAndJsonNullStayApart) {
  struct Case {
    std::string type, payload;
    std::optional<std::string> expected;
  };
  const std::vector<Case> cases = {{"text", "null", std::nullopt},
                                   {"text", "''", ""},
                                   {"text", "'null'", "null"},
                                   {"text", "'{}'", "{}"},
                                   {"json", "null", std::nullopt},
                                   {"json", "'null'", "null"},
                                   {"jsonb", "null", std::nullopt},
                                   {"jsonb", "'null'", "null"},
                                   {"jsonb", "'{}'", "{}"},
                                   {"bytea", "null", std::nullopt},
                                   {"bytea", "''", ""},
                                   {"bytea", "'null'", "null"}};
  for (const std::string type : {"text", "json", "jsonb", "bytea"}) {
    const std::string topic = name() + "-" + type;
    broker().create_topic(topic, 1, {{"cleanup.policy", "compact"}});
    const TypedOutbox outbox = typed(direct(), type);
    RelayProcess relay(outbox.settings);
    relay.init("--payload " + type);
    relay.start();
    std::vector<std::optional<std::string>> expected;
    for (const Case& c : cases) {
      if (c.type != type) continue;
      sql(insert_payload(outbox, topic, c.payload));
      expected.push_back(c.expected);
    }
    ASSERT_TRUE(eventually([&] { return records(topic).size() == expected.size(); }, 15s, 50ms)) << relay.log();
    const auto found = records(topic);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].value, expected[i]) << type << " " << i;
  }
}

}  // namespace
}  // namespace spillway::testing
