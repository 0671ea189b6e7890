// What `init` makes, and what a relay refuses to work on.
#include <cstdio>
#include <cstdlib>

#include "postgres/arrival_hint.h"
#include "postgres/outbox.h"
#include "postgres/repair.h"
#include "support/pgbouncer.h"

namespace spillway::testing {
namespace {

using base::ErrorClass;
using postgres::Installed;
using postgres::Payload;
using Seqs = std::vector<std::int64_t>;

std::string refusal(const Outbox& outbox, const std::string& name = "default") {
  auto options = outbox.options();
  options.outbox = name;
  const auto inspected = postgres::OutboxStore(options).inspect();
  EXPECT_FALSE(inspected);
  if (inspected) return {};
  EXPECT_EQ(inspected.error().error_class, ErrorClass::kMisconfigured);
  return inspected.error().message;
}

#define EXPECT_SAYS(message, words) EXPECT_NE((message).find(words), std::string::npos) << (message)

TEST(Schema, ASecondRunChangesNothingAndSaysSo) {
  Outbox outbox(shared_server(), {}, false);
  EXPECT_EQ(outbox.install({}).change, Installed::Change::kCreated);
  EXPECT_EQ(outbox.install({}).change, Installed::Change::kUnchanged);
  postgres::InitOptions notify;
  notify.notify = true;
  EXPECT_EQ(outbox.install(notify).change, Installed::Change::kUpgraded);
  EXPECT_EQ(outbox.install(notify).change, Installed::Change::kUnchanged);
  EXPECT_TRUE(outbox.store()->inspect());
}

TEST(Schema, ThePrintedSqlDoesTheSameAndMayBeRunAgain) {
  for (const Payload payload : {Payload::kText, Payload::kBytea, Payload::kJson, Payload::kJsonb}) {
    for (const bool partitioned : {false, true}) {
      Outbox outbox(shared_server(), {}, false);
      auto options = with_payload(payload);
      options.notify = true;
      options.partitioned = partitioned;
      outbox.sql(postgres::init_sql(options));
      outbox.sql(postgres::init_sql(options));
      EXPECT_EQ(outbox.install(options).change, Installed::Change::kUnchanged);
      EXPECT_TRUE(outbox.store()->inspect());
      const std::int64_t seq = outbox.insert();
      EXPECT_EQ(Follower(outbox).read(), Seqs{seq});
    }
  }
}

TEST(Schema, ThePayloadTypeOfATableStays) {
  Outbox outbox(shared_server(), with_payload(Payload::kBytea));
  EXPECT_EQ(outbox.install({}).payload, Payload::kBytea);
  postgres::Connection connection({outbox.uri()});
  const auto other = postgres::install(connection, with_payload(Payload::kJson));
  ASSERT_FALSE(other);
  EXPECT_SAYS(other.error().message, "is bytea and stays so");
}

TEST(Schema, ANewerSchemaIsLeftAlone) {
  Outbox outbox;
  outbox.sql("update spillway.schema_version set version = 99");
  postgres::Connection connection({outbox.uri()});
  const auto installed = postgres::install(connection, {});
  ASSERT_FALSE(installed);
  EXPECT_SAYS(installed.error().message, "version 99");
  EXPECT_SAYS(refusal(outbox), "version 99");
}

TEST(Schema, VersionOneIsBroughtUpAndKeepsWhatItHeld) {
  Outbox outbox;
  auto people = outbox.store()->open_operator();
  ASSERT_TRUE(people->pause(ports::Lane::kAll, "night", "ann"));
  outbox.sql(
      "alter table spillway.control drop column limit_max, drop column limit_reason, drop column limit_who, "
      "drop column limit_since, drop column limit_until; update spillway.schema_version set version = 1");
  EXPECT_SAYS(refusal(outbox), "run `spillway init`");
  EXPECT_EQ(outbox.install({}).change, Installed::Change::kUpgraded);
  EXPECT_EQ(outbox.install({}).change, Installed::Change::kUnchanged);
  EXPECT_TRUE(outbox.store()->inspect());
  people = outbox.store()->open_operator();
  EXPECT_TRUE(people->controls()->pause.all);
  EXPECT_TRUE(people->set_override({.reason = "r", .who = "ann"}));
}

TEST(Schema, AnOverrideIsAuditedAndEndsByTheDatabasesClock) {
  Outbox outbox;
  const auto people = outbox.store()->open_operator();
  ASSERT_TRUE(people->set_override({.max_total = 500, .lasts = std::chrono::minutes(30), .reason = "r", .who = "ann"}));
  outbox.sql("update spillway.control set limit_until = clock_timestamp() + interval '5 s'");
  ASSERT_TRUE(people->controls()->limit);
  EXPECT_LE(people->controls()->limit->remaining, std::chrono::seconds(5));
  ASSERT_TRUE(people->clear_override("over", "bob"));
  ASSERT_TRUE(people->set_override({.reason = "r", .who = "ann"}));
  outbox.sql("update spillway.control set limit_until = clock_timestamp()");
  EXPECT_FALSE(people->controls()->limit);
  ASSERT_TRUE(people->clear_override("nothing to clear", "bob"));
  EXPECT_EQ(outbox.value("select string_agg(who || ' ' || what, ', ' order by entry) from spillway.audit"),
            "ann set override, bob clear override, ann set override");
  EXPECT_EQ(outbox.value("select after ->> 'limit_max' from spillway.audit order by entry limit 1"), "500");
}

TEST(Schema, DebeziumsInsertWorksTypedAndUntyped) {
  for (const Payload payload : {Payload::kText, Payload::kJson, Payload::kJsonb}) {
    Outbox outbox(shared_server(), with_payload(payload));
    outbox.sql(
        "insert into spillway.outbox (id, aggregatetype, aggregateid, type, payload) values "
        "('6b1ff7e3-9d0b-4b0e-8a3c-1d1b8b8f0001', 'account', 'a-1', 'opened', '{\"a\": \"\\\\x\"}')");
    Session session(outbox.uri());
    for (const Oid type : {Oid{0}, Oid{25}}) {  // untyped, and text as JDBC's setString sends it
      const char* values[] = {
          type == 0 ? "6b1ff7e3-9d0b-4b0e-8a3c-1d1b8b8f0002" : "6b1ff7e3-9d0b-4b0e-8a3c-1d1b8b8f0003", "account", "a-1",
          "opened", "{\"a\": \"\\\\x\"}"};
      const Oid types[] = {type == 0 ? Oid{0} : Oid{2950}, type, type, type, payload == Payload::kText ? type : Oid{0}};
      const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
          PQexecParams(session.raw(),
                       "insert into spillway.outbox (id, aggregatetype, aggregateid, type, payload) "
                       "values ($1, $2, $3, $4, $5)",
                       5, types, values, nullptr, nullptr, 0),
          PQclear);
      EXPECT_EQ(PQresultStatus(result.get()), PGRES_COMMAND_OK) << PQerrorMessage(session.raw());
    }
    Follower follower(outbox);
    const auto page = follower.read_page();
    ASSERT_TRUE(page);
    ASSERT_EQ(page->rows.size(), 3U);
    for (const model::Row& row : page->rows) EXPECT_EQ(row.payload, "{\"a\": \"\\\\x\"}");
    EXPECT_EQ(base::to_string(page->rows[0].id), "6b1ff7e3-9d0b-4b0e-8a3c-1d1b8b8f0001");
  }
}

TEST(Schema, EmitTakesEveryTypeThatFits) {
  Outbox text;
  const auto last = [](const Outbox& outbox) {
    return outbox.value("select payload::text from spillway.outbox order by seq desc limit 1");
  };
  text.sql("select spillway.emit('a', 'k', 't', '{\"b\":1,  \"a\":2}')");
  EXPECT_EQ(last(text), "{\"b\":1,  \"a\":2}");
  text.sql("select spillway.emit('a', 'k', 't', '{\"b\":1,  \"a\":2}'::json)");
  EXPECT_EQ(last(text), "{\"b\":1,  \"a\":2}");
  text.sql("select spillway.emit('a', 'k', 't', '{\"b\":1,  \"a\":2}'::jsonb, '{\"h\":\"v\"}')");
  EXPECT_EQ(last(text), "{\"a\": 2, \"b\": 1}");
  EXPECT_EQ(text.value("select headers ->> 'h' from spillway.outbox order by seq desc limit 1"), "v");
  text.sql("select spillway.emit('a', 'k', 't', null)");
  EXPECT_EQ(text.value("select payload is null from spillway.outbox order by seq desc limit 1"), "t");
  const std::string id = text.value("select spillway.emit('a', 'k', 't', 'x')");
  EXPECT_EQ(text.value("select id from spillway.outbox order by seq desc limit 1"), id);
  try {
    text.sql("select spillway.emit('a', 'k', 't', '\\x00'::bytea)");
    FAIL() << "bytes in a text column";
  } catch (const std::runtime_error& error) {
    EXPECT_SAYS(std::string(error.what()), "--payload");
  }
  Outbox bytes(shared_server(), with_payload(Payload::kBytea));
  bytes.sql("select spillway.emit('a', 'k', 't', '\\x00ff'::bytea)");
  EXPECT_EQ(bytes.value("select encode(payload, 'hex') from spillway.outbox"), "00ff");
  bytes.sql("select spillway.emit('a', 'k', 't', 'é')");
  EXPECT_EQ(bytes.value("select encode(payload, 'hex') from spillway.outbox order by seq desc limit 1"), "c3a9");
}

TEST(Schema, AnEventIsClaimedOnceByEachConsumer) {
  Outbox outbox;
  const std::string claim = "select spillway.inbox_claim('bank', '6b1ff7e3-9d0b-4b0e-8a3c-1d1b8b8f0001')";
  EXPECT_EQ(outbox.value(claim), "t");
  EXPECT_EQ(outbox.value(claim), "f");
  EXPECT_EQ(outbox.value("select spillway.inbox_claim('other', '6b1ff7e3-9d0b-4b0e-8a3c-1d1b8b8f0001')"), "t");
  Session session(outbox.uri());
  session.run("begin");
  EXPECT_EQ(session.run("select spillway.inbox_claim('bank', '6b1ff7e3-9d0b-4b0e-8a3c-1d1b8b8f0002')"), "t");
  session.run("rollback");
  EXPECT_EQ(outbox.value("select spillway.inbox_claim('bank', '6b1ff7e3-9d0b-4b0e-8a3c-1d1b8b8f0002')"), "t");
}

TEST(Schema, EachRoleCanDoItsWorkAndNoMore) {
  postgres::InitOptions options;
  options.roles = true;
  Outbox outbox(shared_server(), options);
  outbox.install(options);
  for (const std::string role : {"writer", "relay", "console"}) {
    outbox.sql("drop role if exists one_" + role + "; create role one_" + role + " login in role spillway_" + role);
  }
  const auto as = [&](const std::string& role) { return shared_server().uri(outbox.database(), "one_" + role); };
  Session writer(as("writer"));
  writer.run("select spillway.emit('a', 'k', 't', 'x')");
  writer.run("select spillway.inbox_claim('bank', gen_random_uuid())");
  EXPECT_THROW(writer.run("select * from spillway.outbox"), std::runtime_error);
  EXPECT_THROW(writer.run("delete from spillway.outbox"), std::runtime_error);

  Follower relay({{as("relay")}, "default", {}});
  const auto inspected = relay.store().inspect();
  ASSERT_TRUE(inspected) << inspected.error().message;
  EXPECT_TRUE(inspected->empty());
  EXPECT_EQ(relay.read().size(), 1U);
  const base::Uuid holder = base::random_uuid();
  const auto lease = relay.store().open_lease()->acquire(holder, "test", std::chrono::seconds(30));
  ASSERT_TRUE(lease) << lease.error().message;
  const ports::Fence fence{holder, lease->lease.epoch, relay.incarnation()};
  auto ledger = relay.store().open_ledger();
  model::Settlement settlement;
  settlement.seq = 7;
  const std::vector<model::Settlement> settlements{settlement};
  ASSERT_TRUE(ledger->record(fence, settlements));
  const auto saved = ledger->save(fence, {{relay.at(), {}}, 1, {}});
  ASSERT_TRUE(saved) << saved.error().message;
  const auto cleaned = ledger->clean_up(fence, std::chrono::seconds(0), 10);
  ASSERT_TRUE(cleaned) << cleaned.error().message;
  EXPECT_TRUE(relay.store().open_operator()->controls());
  Session as_relay(as("relay"));
  EXPECT_THROW(as_relay.run("update spillway.outbox set type = 'x'"), std::runtime_error);

  postgres::OutboxStore console({{as("console")}, "default", {}});
  auto person = console.open_operator();
  EXPECT_TRUE(person->figures());
  EXPECT_TRUE(person->pause(ports::Lane::kAll, "why", "ann"));
  EXPECT_TRUE(person->resolve({}, model::Verdict::kDiscard, "why", "ann"));
  Session as_console(as("console"));
  EXPECT_THROW(as_console.run("delete from spillway.outbox"), std::runtime_error);
}

TEST(Inspection, WhatIsMissingIsNamedWithItsRemedy) {
  Outbox empty(shared_server(), {}, false);
  EXPECT_SAYS(refusal(empty), "spillway init");
  Outbox outbox;
  outbox.sql("alter table spillway.outbox drop headers");
  EXPECT_SAYS(refusal(outbox), "no column headers");
  outbox.sql("alter table spillway.outbox add headers jsonb; drop index spillway.outbox_tx_seq");
  EXPECT_SAYS(refusal(outbox), "no index on (tx, seq)");
  outbox.sql("create index on spillway.outbox (tx, seq)");
  EXPECT_TRUE(outbox.store()->inspect());
  outbox.sql(
      "drop role if exists nobody; create role nobody login; grant usage on schema spillway to nobody; "
      "grant select on spillway.outbox, spillway.schema_version to nobody");
  auto options = outbox.options();
  options.connect.uri = shared_server().uri(outbox.database(), "nobody");
  const auto refused = postgres::OutboxStore(options).inspect();
  ASSERT_FALSE(refused);
  EXPECT_SAYS(refused.error().message, "lacks rights on spillway.progress, lease, settled");
  outbox.sql("alter table spillway.outbox enable row level security");
  const auto hidden = postgres::OutboxStore(options).inspect();
  ASSERT_FALSE(hidden);
  EXPECT_SAYS(hidden.error().message, "BYPASSRLS");
}

TEST(Inspection, ASecondNameOnTheSameTableIsRefused) {
  Outbox outbox;
  ASSERT_TRUE(outbox.store()->open_lease()->acquire(base::random_uuid(), "one", std::chrono::seconds(10)));
  EXPECT_TRUE(outbox.store()->inspect());
  EXPECT_SAYS(refusal(outbox, "second"), "already relayed under the name default");
}

TEST(Inspection, WrongPasswordsAndDatabasesAreForPeople) {
  const auto inspect = [](const std::string& uri) { return postgres::OutboxStore({{uri}, "default", {}}).inspect(); };
  auto missing = inspect(shared_server().uri("nowhere"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().error_class, ErrorClass::kMisconfigured) << missing.error().message;
  auto refused = inspect("postgresql://postgres@127.0.0.1:1/postgres");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::kUnavailable) << refused.error().message;
  auto nonsense = inspect("postgresql://a b?x=y");
  ASSERT_FALSE(nonsense);
  EXPECT_EQ(nonsense.error().error_class, ErrorClass::kMisconfigured);
  EXPECT_EQ(postgres::describe("postgresql://app:secret@db:5433/app"), "app@db:5433/app");
}

// The tables of `from` in `to`, as an operator would move them.
void dump_and_restore(const Outbox& from, const std::string& to) {
  const std::string command = "pg_dump '" + from.uri() + "' | psql -q -X -v ON_ERROR_STOP=1 '" + to + "' > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
}

TEST(Restored, AnotherClusterIsRefusedUntilRepairedAndThenLosesNothing) {
  Outbox outbox;
  shared_server().execute("select pg_current_xact_id() from generate_series(1, 3)");
  Follower follower(outbox);
  std::vector<std::int64_t> finished;
  for (int i = 0; i < 5; ++i) finished.push_back(outbox.insert());
  Session slow(outbox.uri());
  slow.run("begin");
  const std::int64_t late = slow.insert();
  finished.push_back(outbox.insert());
  EXPECT_EQ(follower.read(), finished);
  const base::Uuid holder = base::random_uuid();
  const auto lease = follower.store().open_lease()->acquire(holder, "test", std::chrono::minutes(5));
  ASSERT_TRUE(follower.store().open_ledger()->save({holder, lease->lease.epoch, follower.incarnation()},
                                                   {{follower.at(), {}}, 6, {}}));
  slow.run("commit");
  const std::int64_t unread = outbox.insert();

  // The servers of these tests are copies of one cluster, and share its identifier.
  outbox.sql(
      "update spillway.progress set system_identifier = system_identifier - 1; "
      "update spillway.schema_version set system_identifier = system_identifier - 1");
  PostgresServer other;
  Outbox restored(other, {}, false);
  dump_and_restore(outbox, restored.uri());
  const std::int64_t added = restored.insert();
  EXPECT_SAYS(refusal(restored), "--repair-restored");
  const auto loaded = restored.store()->open_ledger()->load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().error_class, ErrorClass::kMisconfigured);

  const auto repaired = postgres::repair_restored({restored.uri()}, "default", {});
  ASSERT_TRUE(repaired) << repaired.error().message;
  EXPECT_EQ(repaired->finished, 6);
  EXPECT_EQ(repaired->unfinished, 3);
  EXPECT_TRUE(restored.store()->inspect());
  EXPECT_EQ(Follower(restored).read(), (Seqs{late, unread, added}));
  EXPECT_FALSE(postgres::repair_restored({restored.uri()}, "default", {}));
}

TEST(Hint, AnInsertWakesTheWaiter) {
  postgres::InitOptions options;
  options.notify = true;
  Outbox outbox(shared_server(), options);
  postgres::ArrivalHint hint({outbox.uri()});
  const auto first = hint.wait(std::chrono::milliseconds(0));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(*first);
  EXPECT_FALSE(*hint.wait(std::chrono::milliseconds(0)));
  outbox.insert();
  EXPECT_TRUE(*hint.wait(std::chrono::seconds(10)));
}

TEST(Hint, BehindATransactionPoolerItSaysSo) {
  Outbox outbox;
  PgBouncer pooler(shared_server());
  postgres::ArrivalHint hint({pooler.uri(outbox.database())});
  const auto came = hint.wait(std::chrono::milliseconds(0));
  ASSERT_FALSE(came);
  EXPECT_EQ(came.error().error_class, ErrorClass::kMisconfigured) << came.error().message;
}

}  // namespace
}  // namespace spillway::testing
