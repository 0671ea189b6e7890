// The daemon on a table that somebody else made, without a column for snapshots.
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <memory>
#include <set>

#include "relay/relay_process.h"
#include "support/eventually.h"
#include "support/kafka_broker.h"
#include "support/postgres_server.h"
#include "support/topic_reader.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

TEST(AdoptedTable, ADebeziumTableIsCarriedWithItsLateCommitsAndAcrossAKill) {
  PostgresServer server;
  KafkaBroker broker;
  broker.create_topic("accounts", 2);
  server.execute(
      "create table public.outbox (n bigserial primary key, id uuid not null, aggregatetype varchar(255) not null, "
      "aggregateid varchar(255) not null, type varchar(255) not null, payload jsonb)");
  const auto insert = [](int from, int to) {
    return "insert into public.outbox (id, aggregatetype, aggregateid, type, payload) select gen_random_uuid(), "
           "'accounts', 'k-' || i % 7, 'opened', to_jsonb(i) from generate_series(" +
           std::to_string(from) + ", " + std::to_string(to) + ") i";
  };
  RelayProcess relay({.store = server.uri(),
                      .bootstrap = broker.bootstrap(),
                      .env = {{"SPILLWAY_OUTBOX_TABLE", "public.outbox"},
                              {"SPILLWAY_OUTBOX_PRESET", "debezium"},
                              {"SPILLWAY_OUTBOX_COLUMNS", "{order: n}"}}});
  const Finished made = relay.command("init");
  ASSERT_EQ(made.exit_status, 0) << made.err;
  EXPECT_NE(made.out.find("left as it is"), std::string::npos) << made.out;

  const std::unique_ptr<PGconn, void (*)(PGconn*)> slow(PQconnectdb(server.uri().c_str()), PQfinish);
  const auto in_slow = [&](const std::string& sql) { PQclear(PQexec(slow.get(), sql.c_str())); };
  in_slow("begin");
  in_slow(insert(1, 20));  // the smallest numbers, committed last
  server.execute(insert(21, 120));
  relay.start();
  const auto values = [&] {
    std::set<std::string> found;
    for (const TopicRecord& record : TopicReader(broker.bootstrap()).read_all("accounts")) {
      found.insert(record.value.value_or(""));
    }
    return found;
  };
  ASSERT_TRUE(eventually([&] { return values().size() == 100; }, 30s, 100ms)) << relay.log();
  server.execute(insert(121, 160));
  relay.kill9();
  in_slow("commit");
  relay.start();
  server.execute(insert(161, 200));

  EXPECT_TRUE(eventually([&] { return values().size() == 200; }, 40s, 100ms)) << values().size() << relay.log();
  EXPECT_TRUE(eventually([&] { return server.value("select count(*) from public.outbox") == "0"; }, 10s, 50ms));
  const Finished status = relay.command("status");
  EXPECT_EQ(status.exit_status, 0) << status.err;
  EXPECT_EQ(relay.stop()->exit_status, 0) << relay.log();
}

TEST(AdoptedTable, AKeyWithoutOrderEndsTheStart) {
  PostgresServer server;
  server.execute(
      "create table public.outbox (id uuid primary key, aggregatetype text, aggregateid text, type text, payload "
      "jsonb)");
  RelayProcess relay({.store = server.uri(),
                      .bootstrap = "127.0.0.1:1",
                      .env = {{"SPILLWAY_OUTBOX_TABLE", "public.outbox"}, {"SPILLWAY_OUTBOX_PRESET", "debezium"}}});
  relay.init();
  const Finished refused = relay.command("run");
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_NE((refused.out + refused.err).find("outbox.columns.order"), std::string::npos) << refused.out << refused.err;
}

}  // namespace
}  // namespace spillway::testing
