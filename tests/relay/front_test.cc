// The relay as it meets the database in the field: behind a pooler, with LISTEN, restored elsewhere, away at the start.
#include <gtest/gtest.h>

#include "relay/relay_process.h"
#include "support/eventually.h"
#include "support/kafka_broker.h"
#include "support/pgbouncer.h"
#include "support/postgres_server.h"
#include "support/topic_reader.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

class Front : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new PostgresServer();
    broker_ = new KafkaBroker();
  }
  static void TearDownTestSuite() {
    delete server_;
    delete broker_;
  }

  std::string database() const { return ::testing::UnitTest::GetInstance()->current_test_info()->name(); }
  std::string topic() const { return "topic." + database(); }

  void SetUp() override {
    server_->execute("create database \"" + database() + "\"");
    broker_->create_topic(topic(), 2);
  }

  void insert(const std::string& payload) {
    server_->execute("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('" + topic() +
                         "', 'k', 't', '" + payload + "')",
                     database());
  }
  bool arrived(std::size_t records) {
    return eventually([&] { return TopicReader(broker_->bootstrap()).read_all(topic()).size() >= records; }, 20s, 50ms);
  }

  static PostgresServer* server_;
  static KafkaBroker* broker_;
};
PostgresServer* Front::server_ = nullptr;
KafkaBroker* Front::broker_ = nullptr;

TEST_F(Front, WorksBehindAPoolerInTransactionMode) {
  const PgBouncer pooler(*server_);
  RelayProcess relay({.store = pooler.uri(database()), .bootstrap = broker_->bootstrap()});
  relay.init();
  relay.start();
  insert("1");
  EXPECT_TRUE(arrived(1)) << relay.log();
  EXPECT_EQ(relay.stop()->exit_status, 0) << relay.log();
}

TEST_F(Front, ListensWhereItWasAskedTo) {
  RelayProcess relay({.store = server_->uri(database()),
                      .bootstrap = broker_->bootstrap(),
                      .env = {{"SPILLWAY_OUTBOX_LISTEN", server_->uri(database())},
                              {"SPILLWAY_OUTBOX_POLL_BUSY", "60s"},
                              {"SPILLWAY_OUTBOX_POLL_IDLE", "60s"}}});
  relay.init("--notify");
  relay.start();
  for (std::size_t i = 1; i <= 3; ++i) {
    insert(std::to_string(i));
    EXPECT_TRUE(arrived(i)) << "a poll every minute does not bring it this soon\n" << relay.log();
  }
}

TEST_F(Front, PollsBehindAPoolerAndSaysThatItDoesNotListen) {
  const PgBouncer pooler(*server_);
  RelayProcess relay({.store = pooler.uri(database()),
                      .bootstrap = broker_->bootstrap(),
                      .env = {{"SPILLWAY_OUTBOX_LISTEN", pooler.uri(database())}}});
  relay.init("--notify");
  relay.start();
  insert("1");
  EXPECT_TRUE(arrived(1)) << relay.log();
  EXPECT_TRUE(eventually([&] { return relay.log().find("polls instead of listening") != std::string::npos; }))
      << relay.log();
}

TEST_F(Front, StartsWhileDatabaseAndBrokerAreAway) {
  PostgresServer server;
  KafkaBroker broker;
  RelayProcess relay({.store = server.uri(), .bootstrap = broker.bootstrap()});
  relay.init();
  server.execute("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('t', 'k', 't', '1')");
  server.stop_fast();
  broker.stop();
  relay.start();
  EXPECT_TRUE(eventually([&] { return relay.log().find("waits for the database") != std::string::npos; }))
      << relay.log();
  server.start();
  EXPECT_TRUE(eventually([&] { return relay.log().find("holds the lease") != std::string::npos; }, 20s)) << relay.log();
  broker.start();
  EXPECT_TRUE(eventually([&] { return TopicReader(broker.bootstrap()).read_all("t").size() == 1; }, 30s, 100ms))
      << relay.log();
  EXPECT_TRUE(relay.running());
}

TEST_F(Front, RefusesATableFromAnotherClusterUntilItIsRepaired) {
  RelayProcess relay({.store = server_->uri(database()), .bootstrap = broker_->bootstrap()});
  relay.init();
  relay.start();
  insert("1");
  ASSERT_TRUE(arrived(1)) << relay.log();
  ASSERT_TRUE(relay.stop());
  insert("2");
  // As after a restore: the progress was saved on a cluster with another identifier.
  server_->execute("update spillway.progress set system_identifier = 42", database());

  const Finished refused = relay.command("run");
  EXPECT_EQ(refused.exit_status, 2) << refused.err;
  EXPECT_NE(refused.err.find("--repair-restored"), std::string::npos) << refused.err;
  const Finished repaired = relay.command("init --repair-restored");
  ASSERT_EQ(repaired.exit_status, 0) << repaired.err;
  relay.start();
  EXPECT_TRUE(arrived(2)) << relay.log();
  insert("3");
  EXPECT_TRUE(arrived(3)) << relay.log();
  EXPECT_EQ(TopicReader(broker_->bootstrap()).read_all(topic()).size(), 3u)
      << "what was published before the dump is not published again";
}

}  // namespace
}  // namespace spillway::testing
