#include "sqlite/schema.h"

#include <gtest/gtest.h>

#include "sqlite/scratch_outbox.h"

namespace spillway::sqlite {
namespace {

TEST(Schema, TheSecondInstallChangesNothing) {
  const ScratchFolder folder;
  const auto path = folder.file("app.db");
  EXPECT_EQ(install(path), Installed::kCreated);
  const auto id = value_of(path, "SELECT file_id FROM spillway_schema");
  EXPECT_EQ(install(path), Installed::kUnchanged);
  EXPECT_EQ(value_of(path, "SELECT file_id FROM spillway_schema"), id);
  EXPECT_EQ(value_of(path, "PRAGMA journal_mode"), "wal");
}

TEST(Schema, ThePrintedScriptMakesTheSameTablesAndMayRunTwice) {
  const ScratchFolder folder;
  const auto printed = folder.file("printed.db");
  const auto installed = folder.file("installed.db");
  execute(printed, init_sql());
  execute(printed, init_sql());
  ASSERT_EQ(install(installed), Installed::kCreated);
  const std::string tables = "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY name)";
  EXPECT_EQ(value_of(printed, tables), value_of(installed, tables));
  EXPECT_EQ(value_of(printed, "SELECT count(*) FROM spillway_schema"), "1");
  EXPECT_EQ(install(printed), Installed::kUnchanged);
}

TEST(Schema, BringsAFileOfVersionOneUpAndKeepsWhatIsInIt) {
  const ScratchFolder folder;
  const auto path = folder.file("app.db");
  ASSERT_EQ(install(path), Installed::kCreated);
  // As version 1 had them.
  OutboxStore store({.path = path});
  ASSERT_TRUE(store.open_operator()->pause(ports::Lane::kAll, "night", "ann"));
  const auto id = value_of(path, "SELECT file_id FROM spillway_schema");
  execute(path,
          "DROP TABLE spillway_override; DROP TABLE spillway_audit; DROP TABLE spillway_settled; DROP TABLE "
          "spillway_progress; DROP INDEX spillway_outbox_by_key;"
          "CREATE TABLE spillway_settled (seq INTEGER PRIMARY KEY, id TEXT NOT NULL COLLATE NOCASE, key TEXT,"
          " topic TEXT NOT NULL, type TEXT NOT NULL, bytes INTEGER NOT NULL,"
          " verdict TEXT NOT NULL CHECK (verdict IN ('publish', 'reconcile', 'discard', 'set_aside', 'stopped')),"
          " state TEXT NOT NULL, rule TEXT NOT NULL, reason TEXT NOT NULL, who TEXT NOT NULL, since INTEGER NOT NULL);"
          "CREATE INDEX spillway_settled_by_state ON spillway_settled (state, seq);"
          "CREATE INDEX spillway_settled_by_age ON spillway_settled (state, since);"
          "CREATE INDEX spillway_settled_by_id ON spillway_settled (id);"
          "CREATE INDEX spillway_settled_by_key ON spillway_settled (key, seq) WHERE state = 'open';"
          "CREATE TABLE spillway_progress (name TEXT NOT NULL, lane INTEGER NOT NULL, frame_from TEXT NOT NULL,"
          " frame_to TEXT NOT NULL, last_seq INTEGER, saved_at INTEGER NOT NULL, PRIMARY KEY (name, lane))"
          " WITHOUT ROWID;"
          "INSERT INTO spillway_settled VALUES (3, 'x', 'k', 't', 'y', 1, 'set_aside', 'open', '', 'r', 'relay', 5);"
          "INSERT INTO spillway_progress VALUES ('default', 0, '2', '', NULL, 7);"
          "UPDATE spillway_schema SET version = 1");
  const auto old = store.inspect();
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().message.find("run `spillway init`"), std::string::npos) << old.error().message;
  EXPECT_EQ(install(path), Installed::kUpgraded);
  EXPECT_EQ(value_of(path, "SELECT version || file_id FROM spillway_schema"), "2" + id);
  EXPECT_TRUE(store.inspect());
  EXPECT_TRUE(store.open_operator()->controls()->pause.all);
  EXPECT_TRUE(store.open_operator()->set_override({.reason = "r", .who = "ann"}));
  EXPECT_EQ(value_of(path, "SELECT seq || key || verdict || since FROM spillway_settled"), "3kset_aside5");
  EXPECT_EQ(value_of(path, "SELECT frame_from || read_up_to FROM spillway_progress"), "20");
  execute(path, "UPDATE spillway_settled SET verdict = 'waiting'");
  EXPECT_EQ(install(path), Installed::kUnchanged);
}

TEST(Schema, AddsTheOutboxToAnApplicationsDatabase) {
  const ScratchFolder folder;
  const auto path = folder.file("app.db");
  execute(path, "CREATE TABLE account (id INTEGER PRIMARY KEY); INSERT INTO account VALUES (7)");
  EXPECT_EQ(install(path), Installed::kCreated);
  EXPECT_EQ(value_of(path, "SELECT id FROM account"), "7");
}

TEST(Schema, RefusesWhatItCannotWorkWithAndSaysWhy) {
  const ScratchFolder folder;
  const auto path = folder.file("app.db");
  execute(path,
          "CREATE TABLE spillway_schema (version INTEGER, file_id TEXT); INSERT INTO spillway_schema VALUES (99, '')");
  const auto newer = install(path);
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().error_class, base::ErrorClass::kMisconfigured);
  EXPECT_NE(newer.error().message.find("newer Spillway"), std::string::npos) << newer.error().message;

  const auto nowhere = install(folder.file("missing/app.db"));
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("does not exist"), std::string::npos) << nowhere.error().message;
  EXPECT_FALSE(install(folder.path()));
}

TEST_F(OutboxFile, EmitReturnsTheIdItWrote) {
  Connection writer(path, kPatience);
  auto emit = writer.use(kEmit);
  emit.bind("order").bind("42").bind("order.paid").bind("{}").bind_null();
  ASSERT_TRUE(emit.step());
  const std::string id(emit.text(0));
  emit.reset();
  EXPECT_TRUE(base::parse_uuid(id)) << id;
  EXPECT_EQ(value_of(path, "SELECT id FROM spillway_outbox"), id);
}

TEST_F(OutboxFile, AnInsertWrittenForDebeziumWorks) {
  execute(path,
          "INSERT INTO spillway_outbox (id, aggregatetype, aggregateid, type, payload) VALUES"
          " ('0190F5E2-9C3A-7B01-8000-00000000ABCD', 'order', '1', 'order.created', '{}')");
  EXPECT_EQ(read({})->rows.front().id, base::parse_uuid("0190f5e2-9c3a-7b01-8000-00000000abcd"));
}

TEST_F(OutboxFile, AnEventIsClaimedOncePerConsumer) {
  Connection consumer(path, kPatience);
  const auto claim = [&](const char* name, const char* id) {
    auto statement = consumer.use(kInboxClaim);
    return statement.bind(name).bind(id).step();
  };
  EXPECT_TRUE(claim("billing", "0190f5e2-9c3a-7b01-8000-00000000abcd"));
  EXPECT_FALSE(claim("billing", "0190f5e2-9c3a-7b01-8000-00000000abcd"));
  EXPECT_FALSE(claim("billing", "0190F5E2-9C3A-7B01-8000-00000000ABCD"));
  EXPECT_TRUE(claim("shipping", "0190f5e2-9c3a-7b01-8000-00000000abcd"));
}

TEST_F(OutboxFile, AClaimRolledBackMayBeMadeAgain) {
  Connection consumer(path, kPatience);
  {
    const Transaction abandoned(consumer, Transaction::Kind::kWrite);
    ASSERT_TRUE(consumer.use(kInboxClaim).bind("billing").bind("0190f5e2-9c3a-7b01-8000-00000000abcd").step());
  }
  EXPECT_TRUE(consumer.use(kInboxClaim).bind("billing").bind("0190f5e2-9c3a-7b01-8000-00000000abcd").step());
}

TEST_F(OutboxFile, RefusesRowsThatCouldNeverBeSent) {
  const std::string insert = "INSERT INTO spillway_outbox (aggregatetype, aggregateid, type, ";
  EXPECT_THROW(execute(path, insert + "id) VALUES ('a', 'b', 'c', 'no-uuid')"), Failure);
  EXPECT_THROW(execute(path, insert + "id) VALUES ('a', 'b', 'c', '0190f5e2_9c3a-7b01-8000-00000000abcd')"), Failure);
  EXPECT_THROW(execute(path, insert + "id) VALUES ('a', 'b', 'c', '0190f5e2-9c3a-7b01-8000-00000000abcg')"), Failure);
  EXPECT_THROW(execute(path, insert + "headers) VALUES ('a', 'b', 'c', '{')"), Failure);
  EXPECT_THROW(execute(path, insert + "headers) VALUES ('a', 'b', 'c', '[1]')"), Failure);
  EXPECT_EQ(value_of(path, "SELECT count(*) FROM spillway_outbox"), "0");
}

TEST_F(OutboxFile, RefusesAnExplicitSeqBelowTheNewest) {
  write_events(path, 5);
  const std::string insert = "INSERT INTO spillway_outbox (seq, aggregatetype, aggregateid, type) VALUES ";
  EXPECT_THROW(execute(path, insert + "(-1, 'a', 'b', 'c')"), Failure);
  execute(path, "DELETE FROM spillway_outbox WHERE seq = 3");
  EXPECT_THROW(execute(path, insert + "(3, 'a', 'b', 'c')"), Failure);
  execute(path, insert + "(5000000000, 'a', 'b', 'c')");
  write_events(path, 1);
  EXPECT_EQ(seqs_of(*read({})), (std::vector<std::int64_t>{1, 2, 4, 5, 5'000'000'000, 5'000'000'001}));
}

}  // namespace
}  // namespace spillway::sqlite
