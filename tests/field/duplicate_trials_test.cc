// Reports in which events were sent more often than a fault explains.
#include <gmock/gmock.h>

#include "field/field_report.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(FieldReport, BR016_RowsInFlightAreNotReadAgain) {
  broker().create_topic(name(), 3);
  RelaySettings settings = proxied();
  settings.env = {{"SPILLWAY_OUTBOX_POLL_BUSY", "10ms"}, {"SPILLWAY_OUTBOX_POLL_IDLE", "100ms"}};
  RelayProcess relay(settings);
  relay.init();
  network().set_delay(100ms);  // in each direction
  insert_many(name(), 100, 100);
  relay.start();
  ASSERT_TRUE(published(10'000, 60s)) << relay.log();
  const Delivery found = expect_complete();
  EXPECT_EQ(found.committed, 10'000);
  EXPECT_EQ(found.duplicates, 0);
}

TEST_F(FieldReport, BR017_ATimeoutIsNotAFailureAndTheKeyKeepsItsOrder) {
  broker().create_topic(name(), 1);
  RelaySettings settings = proxied();
  settings.env = {{"SPILLWAY_KAFKA_MESSAGE_TIMEOUT_MS", "2000"}};
  const Finished refused = RelayProcess(settings).command("run");
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_THAT(refused.err, HasSubstr("message.timeout.ms")) << "no row is given up by a clock";

  // A request that times out was perhaps taken: it is sent again as the same one.
  settings.env = {{"SPILLWAY_KAFKA_SOCKET_TIMEOUT_MS", "1000"}};
  RelayProcess relay(settings);
  relay.init();
  relay.start();
  insert("k", 1, 100);
  ASSERT_TRUE(published(100)) << relay.log();
  for (int round = 0; round < 2; ++round) {
    network().set_blackhole(true);
    insert("k", 101 + round * 200, 300 + round * 200);
    std::this_thread::sleep_for(3s);
    network().set_blackhole(false);
    ASSERT_TRUE(all_done()) << relay.log();
  }
  EXPECT_EQ(value("select count(*) from spillway.settled"), "0") << "nothing is set aside";
  const Delivery found = expect_complete();
  EXPECT_EQ(found.committed, 500);
  EXPECT_EQ(found.duplicates, 0);
}

TEST_F(FieldReport, BR019_AFailedSaveIsSavedAgainAndNotSentAgain) {
  broker().create_topic(name(), 3);
  RelayProcess relay(direct());
  relay.init();
  relay.start();
  insert("k", 1, 100);
  ASSERT_TRUE(all_done()) << relay.log();
  ASSERT_TRUE(eventually([&] { return value("select published from spillway.progress") == "100"; }, 5s)) << relay.log();
  sql("create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;"
      "create trigger refuse before insert or update on spillway.progress for each row execute function refuse()");
  insert("k", 101, 1'100);
  ASSERT_TRUE(eventually([&] { return records().size() == 1'100; }, 20s, 100ms)) << relay.log();
  std::this_thread::sleep_for(2s);
  EXPECT_EQ(value("select published from spillway.progress"), "100");
  sql("drop trigger refuse on spillway.progress");
  ASSERT_TRUE(all_done()) << relay.log();

  // The same with a database that is away between acknowledgement and save.
  OpenTransaction blocking(uri());
  blocking.run("select * from spillway.progress for update");
  insert("k", 1'101, 2'100);
  ASSERT_TRUE(eventually([&] { return records().size() == 2'100; }, 20s, 100ms)) << relay.log();
  server().stop_fast();
  std::this_thread::sleep_for(2s);
  server().start();
  ASSERT_TRUE(all_done()) << relay.log();
  EXPECT_EQ(expect_complete().duplicates, 0);
}

}  // namespace
}  // namespace spillway::testing
