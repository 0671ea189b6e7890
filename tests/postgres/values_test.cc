// What a row holds arrives as it was written.
#include <thread>

#include "postgres/outbox.h"

namespace spillway::testing {
namespace {

using model::Timestamp;

std::optional<std::string> payload_of(Follower& follower) {
  const auto page = follower.read_page();
  EXPECT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->rows.size(), 1U);
  if (!page || page->rows.size() != 1 || !page->rows[0].payload) return std::nullopt;
  return std::string(*page->rows[0].payload);
}

TEST(Values, OddCreationTimesArriveAsTheyAre) {
  Outbox outbox;
  const auto created = [&](const std::string& value) {
    outbox.sql("insert into spillway.outbox (aggregatetype, aggregateid, type, created_at) values ('a', 'k', 't', " +
               value + ")");
  };
  created("null");
  created("'infinity'");
  created("'-infinity'");
  created("'1969-12-31 23:59:59.5+00'");
  created("'2000-01-01 00:00:00+00'");
  created("'9999-12-31 00:00:00+00'");
  created("'4713-01-01 00:00:00+00 BC'");
  Follower follower(outbox);
  const auto page = follower.read_page();
  ASSERT_TRUE(page);
  ASSERT_EQ(page->rows.size(), 7U);
  EXPECT_EQ(page->rows[0].created_at, Timestamp{});
  EXPECT_EQ(page->rows[1].created_at.kind, Timestamp::Kind::kInfinity);
  EXPECT_EQ(page->rows[2].created_at.kind, Timestamp::Kind::kMinusInfinity);
  EXPECT_EQ(page->rows[3].created_at, Timestamp::at(-500'000));
  EXPECT_EQ(page->rows[4].created_at, Timestamp::at(946'684'800'000'000));
  EXPECT_EQ(page->rows[5].created_at, Timestamp::at(253'402'214'400'000'000));
  EXPECT_EQ(to_string(page->rows[6].created_at).substr(0, 5), "-4712");
  EXPECT_TRUE(follower.store().open_operator()->figures());
}

TEST(Values, TheSessionsTimeZoneAndStylesDoNotMatter) {
  Outbox outbox;
  outbox.sql("alter database " + outbox.database() + " set timezone = 'Asia/Kathmandu'");
  outbox.sql("alter database " + outbox.database() + " set datestyle = 'German, DMY'");
  outbox.sql("alter database " + outbox.database() + " set bytea_output = 'escape'");
  outbox.sql("alter database " + outbox.database() + " set extra_float_digits = -15");
  outbox.sql(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, created_at) values ('a', 'k', 't', "
      "'2026-01-02 03:04:05.678901+00')");
  Follower follower(outbox);
  const auto page = follower.read_page();
  ASSERT_TRUE(page);
  EXPECT_EQ(to_string(page->rows.at(0).created_at), "2026-01-02T03:04:05.678901Z");
}

TEST(Values, TextPayloadsKeepEveryByte) {
  Outbox outbox;
  for (const std::string payload : {R"({"a" : 1,  "a":2, "b":"\\x\u00e9\n"})", "é€😀", " ", "\\x6162", "null"}) {
    Follower follower(outbox);
    follower.read();
    const auto at = follower.at();
    outbox.sql("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('a', 'k', 't', " +
               postgres::literal(payload) + ")");
    follower.at() = at;
    EXPECT_EQ(payload_of(follower), payload);
  }
}

TEST(Values, ByteaPayloadsKeepEveryByte) {
  Outbox outbox(shared_server(), with_payload(postgres::Payload::kBytea));
  outbox.sql(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('a', 'k', 't', "
      "'\\x00ff105c00')");
  Follower follower(outbox);
  EXPECT_EQ(payload_of(follower), std::string("\x00\xff\x10\x5c\x00", 5));
}

TEST(Values, JsonKeepsItsTextAndJsonbIsRendered) {
  const std::string written = R"('{"b":1,   "a":1e2}')";
  Outbox json(shared_server(), with_payload(postgres::Payload::kJson));
  json.sql("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('a', 'k', 't', " + written +
           ")");
  Follower json_follower(json);
  EXPECT_EQ(payload_of(json_follower), R"({"b":1,   "a":1e2})");

  Outbox jsonb(shared_server(), with_payload(postgres::Payload::kJsonb));
  jsonb.sql("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('a', 'k', 't', " +
            written + ")");
  Follower jsonb_follower(jsonb);
  EXPECT_EQ(payload_of(jsonb_follower), R"({"a": 100, "b": 1})");
  const auto warnings = jsonb_follower.store().inspect();
  ASSERT_TRUE(warnings);
  ASSERT_EQ(warnings->size(), 1U);
  EXPECT_NE(warnings->front().find("jsonb"), std::string::npos);
}

TEST(Values, NullEmptyAndJsonNullStayApart) {
  Outbox outbox(shared_server(), with_payload(postgres::Payload::kJsonb));
  outbox.sql(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values "
      "('a', '', 't', null), ('a', 'k', '', 'null'), ('', 'k', 't', '\"\"')");
  Follower follower(outbox);
  const auto page = follower.read_page();
  ASSERT_TRUE(page);
  ASSERT_EQ(page->rows.size(), 3U);
  EXPECT_FALSE(page->rows[0].payload);
  EXPECT_EQ(page->rows[0].aggregate_id, "");
  EXPECT_EQ(page->rows[1].payload, "null");
  EXPECT_EQ(page->rows[2].payload, "\"\"");
}

TEST(Values, ADatabaseInLatin1SpeaksUtf8) {
  auto& server = shared_server();
  server.execute("create database latin encoding 'LATIN1' template template0 locale 'C'");
  postgres::Connection connection({server.uri("latin")});
  ASSERT_TRUE(postgres::install(connection, {}));
  server.execute(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('a', 'k', 't', chr(233))",
      "latin");
  postgres::OutboxStore store({{server.uri("latin")}, "default", {}});
  const auto page = store.open_reader()->read({}, store.open_ledger()->load()->incarnation, {});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->rows.at(0).payload, "é");
}

TEST(Values, ADatabaseWithoutAnEncodingHandsOutItsBytes) {
  auto& server = shared_server();
  server.execute("create database bytes encoding 'SQL_ASCII' template template0 locale 'C'");
  postgres::Connection connection({server.uri("bytes")});
  ASSERT_TRUE(postgres::install(connection, {}));
  server.execute(
      "set client_encoding = 'SQL_ASCII'; insert into spillway.outbox (aggregatetype, aggregateid, type, payload) "
      "values ('a', 'k', 't', E'\\351\\377')",
      "bytes");
  postgres::OutboxStore store({{server.uri("bytes")}, "default", {}});
  const auto page = store.open_reader()->read({}, store.open_ledger()->load()->incarnation, {});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->rows.at(0).payload, "\xe9\xff");
}

TEST(Values, AlterTableWhileRunningHidesNothing) {
  Outbox outbox;
  Follower follower(outbox);
  std::vector<std::int64_t> written{outbox.insert(), outbox.insert()};
  EXPECT_EQ(follower.read(), written);
  written = {outbox.insert()};
  outbox.sql("alter table spillway.outbox add extra text default 'x' || random(), alter aggregateid type varchar(80)");
  written.push_back(outbox.insert());
  EXPECT_EQ(follower.read(), written);
  // From text to jsonb and to bytea: asked for as what it is now.
  outbox.sql(
      "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('a', 'k', 't', '{\"a\":1}')");
  outbox.sql("alter table spillway.outbox alter payload type jsonb using payload::jsonb");
  EXPECT_EQ(payload_of(follower), R"({"a": 1})");
  outbox.sql("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('a', 'k', 't', '7')");
  outbox.sql("alter table spillway.outbox alter payload type bytea using convert_to(payload::text, 'UTF8')");
  EXPECT_EQ(payload_of(follower), "7");
  outbox.sql("alter table spillway.outbox rename payload to body");
  const auto gone = follower.read_page();
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().error_class, base::ErrorClass::kMisconfigured) << gone.error().message;
  outbox.sql("alter table spillway.outbox rename body to payload");
  EXPECT_TRUE(follower.read_page());
}

TEST(Values, ARewriteThatCommitsWhileAPageWaitsHidesNothing) {
  Outbox outbox;
  Follower follower(outbox);
  const std::int64_t seq = outbox.insert();
  Session alter(outbox.uri());
  alter.run("begin; alter table spillway.outbox alter type type varchar(90), alter created_at type timestamptz(3)");
  std::vector<std::int64_t> read;
  std::thread reader([&] { read = follower.read(); });
  while (outbox.number("select count(*) from pg_locks where not granted") == 0) std::this_thread::yield();
  alter.run("commit");
  reader.join();
  EXPECT_EQ(read, std::vector<std::int64_t>{seq});
}

}  // namespace
}  // namespace spillway::testing
