// Reports in which a relay stood still although it could have worked.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "field/field_report.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(FieldReport, BR020_OneSlowHeadRowHoldsBackItsOwnKeyAlone) {
  const std::string held = name() + "-held";  // does not exist yet
  broker().create_topic(name(), 3);
  RelaySettings settings = direct();
  settings.env = {{"SPILLWAY_OUTBOX_POLL_IDLE", "60s"}};
  RelayProcess relay(settings);
  relay.init();
  sql(events(held, "K", 1, 1));
  insert_many(name(), 9, 100);
  sql(events(held, "K", 2, 100));
  relay.start();
  ASSERT_TRUE(owned_by(relay));
  ASSERT_TRUE(eventually([&] { return records().size() == 900; }, 10s, 50ms)) << relay.log();
  std::this_thread::sleep_for(3s);
  broker().create_topic(held);
  EXPECT_TRUE(eventually([&] { return records(held).size() == 100; }, 10s, 50ms)) << relay.log();
  expect_complete(held);
  EXPECT_EQ(expect_complete().duplicates, 0);
}

TEST_F(FieldReport, BR022_ABrokerThatForgotTheProducerIsServedAgainWithoutARestart) {
  broker().create_topic(name(), 3);
  RelayProcess relay(direct());
  relay.init();
  relay.start();
  insert_many(name(), 10, 200);
  ASSERT_TRUE(published(2'000)) << relay.log();
  broker().wipe();
  insert("k1", 201, 700);
  std::this_thread::sleep_for(1s);
  broker().start();
  broker().create_topic(name(), 3);
  insert("k1", 701, 1'000);
  ASSERT_TRUE(eventually([&] { return records().size() >= 800; }, 30s, 200ms)) << relay.log();
  const Delivery found = check_delivery(server(), broker().bootstrap(), name(), database());
  EXPECT_EQ(found.lost, 2'000) << "what the broker had acknowledged and forgot, and nothing more";
  EXPECT_EQ(found.inversions, 0);
  EXPECT_TRUE(relay.running());
}

TEST_F(FieldReport, BR024_AfterAFailoverTheReadOnlyServerIsLeft) {
  broker().create_topic(name(), 1);
  PostgresServer primary;
  const auto standby = primary.make_standby();
  RelaySettings settings = direct();
  settings.store =
      fmt::format("postgresql://postgres@127.0.0.1:{},127.0.0.1:{}/postgres", primary.port(), standby->port());
  RelayProcess relay(settings);
  relay.init();
  relay.start();
  primary.execute(events(name(), "k", 1, 100));
  ASSERT_TRUE(eventually([&] { return records().size() == 100; }, 20s, 50ms)) << relay.log();
  const std::string end = primary.value("select pg_current_wal_lsn()");
  ASSERT_TRUE(eventually(
      [&] { return standby->value("select pg_last_wal_replay_lsn() >= '" + end + "'::pg_lsn") == "t"; }, 10s));
  // Still up, still readable, no longer the one.
  primary.set("default_transaction_read_only", "on");
  primary.reload();
  standby->promote();
  const auto start = Clock::now();
  standby->execute(events(name(), "k", 101, 200));
  ASSERT_TRUE(eventually([&] { return records().size() >= 200; }, 30s, 50ms)) << relay.log();
  std::cout << "works on the new primary after " << std::chrono::duration<double>(Clock::now() - start).count()
            << " s\n";
  EXPECT_LE(Clock::now() - start, 20s);
  const Delivery found = check_delivery(*standby, broker().bootstrap(), name());
  EXPECT_EQ(found.lost, 0);
  EXPECT_EQ(found.inversions, 0);
  EXPECT_TRUE(relay.running());
}

TEST_F(FieldReport, BR027_AfterACrashTheRestIsOutWithinTheLeaseTime) {
  broker().create_topic(name(), 3);
  RelayProcess first(direct());
  RelayProcess second(direct());
  first.init();
  first.start();
  insert_many(name(), 100, 100);
  ASSERT_TRUE(published(1)) << first.log();
  first.kill9();
  const auto start = Clock::now();
  second.start();  // every process is a new identity
  ASSERT_TRUE(all_done(20s)) << second.log();
  std::cout << "all is out " << std::chrono::duration<double>(Clock::now() - start).count() << " s after the crash\n";
  EXPECT_LE(Clock::now() - start, 15s);
  expect_complete();
}

}  // namespace
}  // namespace spillway::testing
