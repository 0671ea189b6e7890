#include "support/postgres_server.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include "support/eventually.h"

namespace spillway::testing {
namespace {

TEST(PostgresServer, AnswersWithTheSettingsAskedFor) {
  PostgresServer server({.max_prepared_transactions = 7, .wal_level = "logical", .settings = {{"work_mem", "5MB"}}});
  EXPECT_EQ(server.value("show max_prepared_transactions"), "7");
  EXPECT_EQ(server.value("show wal_level"), "logical");
  EXPECT_EQ(server.value("show work_mem"), "5MB");
  EXPECT_EQ(server.value("show fsync"), "off");
  EXPECT_EQ(server.execute("select null, 'a'; select 1, null").at(0), (PostgresServer::Row{"1", std::nullopt}));
  EXPECT_THROW(server.execute("select nonsense"), std::runtime_error);
}

TEST(PostgresServer, ComesBackAfterKill9) {
  PostgresServer server({.durable = true});
  EXPECT_EQ(server.value("show fsync"), "on");
  server.execute("create table kept as select 1 as n");
  server.kill9();
  EXPECT_THROW(server.execute("select 1"), std::runtime_error);
  server.start();
  EXPECT_EQ(server.value("select n from kept"), "1");
}

TEST(PostgresServer, ComesBackAfterEveryKindOfStop) {
  PostgresServer server;
  server.execute("create table kept as select 1 as n");
  server.stop_fast();
  EXPECT_THROW(server.execute("select 1"), std::runtime_error);
  server.start();
  server.stop_immediate();
  server.set("work_mem", "6MB");
  server.start();
  EXPECT_EQ(server.value("select n from kept"), "1");
  EXPECT_EQ(server.value("show work_mem"), "6MB");
}

TEST(PostgresServer, RestartsItsBackendsWhenOneIsKilled) {
  PostgresServer server;
  PGconn* victim = PQconnectdb(server.uri().c_str());
  PGconn* bystander = PQconnectdb(server.uri().c_str());
  const pid_t postmaster = server.pid();
  server.kill9_backend(PQbackendPID(victim));
  EXPECT_EQ(server.pid(), postmaster);
  EXPECT_EQ(server.value("select 1"), "1");
  PQclear(PQexec(bystander, "select 1"));
  EXPECT_EQ(PQstatus(bystander), CONNECTION_BAD);
  PQfinish(victim);
  PQfinish(bystander);
}

TEST(PostgresServer, FreezesAndThaws) {
  PostgresServer server;
  PGconn* connection = PQconnectdb(server.uri().c_str());
  server.freeze();
  ASSERT_EQ(PQsendQuery(connection, "select 1"), 1);
  const auto answered = [&] { return PQconsumeInput(connection) == 1 && PQisBusy(connection) == 0; };
  EXPECT_FALSE(eventually(answered, std::chrono::milliseconds(100)));
  server.thaw();
  EXPECT_TRUE(eventually(answered));
  PQfinish(connection);
}

TEST(PostgresServer, HandsOverToAStandby) {
  PostgresServer primary;
  primary.execute("create table kept as select 1 as n");
  const auto standby = primary.make_standby();
  primary.execute("insert into kept values (2)");
  ASSERT_TRUE(eventually([&] { return standby->value("select count(*) from kept") == "2"; }));
  EXPECT_THROW(standby->execute("insert into kept values (3)"), std::runtime_error);
  primary.kill9();
  standby->promote();
  standby->execute("insert into kept values (3)");
  EXPECT_EQ(standby->value("select count(*) from kept"), "3");
}

}  // namespace
}  // namespace spillway::testing
