// Reports in which events were lost: rows skipped, removed too early, or forgotten with a local queue.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <deque>
#include <random>

#include "field/field_report.h"
#include "field/http_get.h"
#include "field/memory_of.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(FieldReport, BR007_LateCommitsAreNotSkipped) {
  broker().create_topic(name(), 3);
  RelayProcess relay(direct());
  relay.init();
  relay.start();
  std::deque<OpenTransaction> slow;
  for (int i = 1; i <= 50; ++i) slow.emplace_back(uri()).run(events(name(), fmt::format("slow{}", i), 1, 1));
  OpenTransaction gap(uri());
  gap.run(events(name(), "gone", 1, 10));
  for (int i = 1; i <= 200; ++i) insert("quick", i, i);
  insert_many(name(), 80, 10);
  ASSERT_TRUE(published(1'000)) << relay.log();
  gap.run("rollback");
  for (OpenTransaction& transaction : slow) transaction.commit();
  ASSERT_TRUE(published(1'050)) << relay.log();
  // A sequence that hands out numbers in blocks from here on: order may suffer, rows must not.
  sql("alter sequence spillway.outbox_seq_seq cache 100");
  OpenTransaction first(uri());
  first.run(events(name(), "cached", 1, 10));
  insert("late", 1, 10);
  ASSERT_TRUE(published(1'060)) << relay.log();
  first.commit();
  ASSERT_TRUE(published(1'070)) << relay.log();
  EXPECT_EQ(expect_complete().duplicates, 0);
  EXPECT_THAT(relay.command("status").out, HasSubstr("CACHE 1"));
  EXPECT_EQ(relay.command("status --check").exit_status, 3);

  relay.stop();
  const Finished refused = relay.command("run");
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_THAT(refused.err, HasSubstr("CACHE 100"));
}

TEST_F(FieldReport, BR008_NoRowIsRemovedBeforeItsOwnAcknowledgement) {
  broker().create_topic(name(), 3);
  RelaySettings settings = direct();
  settings.env = {{"SPILLWAY_OUTBOX_CLEANUP_KEEP", "0s"}};
  RelayProcess relay(settings);
  relay.init();
  // What was ever committed, kept apart from the outbox that shrinks.
  sql("create table written (id uuid, seq bigint)");
  std::mt19937 random(8);
  const auto missing = [&] {
    std::string ids;
    for (const TopicRecord& record : records()) ids += "'" + record.header("id").value() + "',";
    ids += "null";
    return value("select count(*) from written where id not in (select x::uuid from unnest(array[" + ids +
                 "]) x where x is not null) and not exists (select from spillway.outbox o where o.id = written.id)");
  };
  for (int round = 0; round < 4; ++round) {
    sql(fmt::format("with added as ({} returning id, seq) insert into written select * from added",
                    events(name(), "k" + std::to_string(round), 1, 2'500)));
    relay.start();
    ASSERT_TRUE(owned_by(relay)) << relay.log();
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 150));
    broker().freeze();
    std::this_thread::sleep_for(500ms);
    relay.kill9();
    broker().thaw();
    EXPECT_EQ(missing(), "0") << "removed from the table and not on the topic";
    expire_lease();
  }
  relay.start();
  ASSERT_TRUE(all_done(60s)) << relay.log();
  EXPECT_EQ(missing(), "0");
  // Cleanup did take part: the rows go once they are published.
  relay.stop();
  relay.start();
  EXPECT_TRUE(eventually([&] { return value("select count(*) from spillway.outbox") == "0"; }, 20s, 100ms));
  EXPECT_EQ(missing(), "0");
}

TEST_F(FieldReport, BR010_SigtermEndsInTimeAndLeavesWhatIsNotAcknowledged) {
  broker().create_topic(name(), 3);
  RelaySettings settings = direct();
  settings.env = {{"SPILLWAY_KAFKA_LINGER_MS", "1000"}};
  RelayProcess relay(settings);
  relay.init();

  insert("k", 1, 10'000);
  relay.start();
  ASSERT_TRUE(owned_by(relay)) << relay.log();
  auto start = Clock::now();
  auto end = relay.stop();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_status, 0) << relay.log();
  EXPECT_LE(Clock::now() - start, 6s);

  // A broker that answers nothing: the limit holds, what is left is counted, the status says so.
  const auto stop_without_broker = [&](bool twice) {
    relay.start();
    ASSERT_TRUE(owned_by(relay)) << relay.log();
    // It has the topic's partitions once it has published.
    const std::int64_t last = std::stoll(value("select max(seq) from spillway.outbox")) + 1;
    insert("k", last, last);
    ASSERT_TRUE(all_done()) << relay.log();
    broker().freeze();
    insert("k", last + 1, last + 1'000);
    ASSERT_TRUE(
        eventually([&] { return metric(relay.http_port(), "spillway_in_flight_rows").value_or(0) == 1'000; }, 5s, 20ms))
        << relay.command("status").out;
    start = Clock::now();
    if (twice) {
      ::kill(relay.pid(), SIGTERM);
      std::this_thread::sleep_for(1s);
    }
    end = relay.stop();
    broker().thaw();
    ASSERT_TRUE(end) << "still runs";
    EXPECT_EQ(end->exit_status, 1) << relay.log();
    EXPECT_LE(Clock::now() - start, twice ? 3s : 7s);
  };
  stop_without_broker(false);
  EXPECT_THAT(relay.log(), HasSubstr("1000 events were not acknowledged in time"));
  stop_without_broker(true);

  relay.start();
  ASSERT_TRUE(owned_by(relay)) << relay.log();
  ASSERT_TRUE(all_done()) << relay.log();
  EXPECT_EQ(expect_complete().committed, 12'002);
}

TEST_F(FieldReport, BR013_AFullClientQueueIsPressureOnTheTableAndNotALoss) {
  broker().create_topic(name(), 3);
  RelaySettings settings = proxied();
  settings.more = "limits: {events_in_flight: 2000}\n";
  RelayProcess relay(settings);
  relay.init();
  relay.start();
  ASSERT_TRUE(owned_by(relay));
  insert_many(name(), 100, 1);
  ASSERT_TRUE(published(100)) << relay.log();

  // The outage: ten times the queue, and two restarts.
  network().set_refusing(true);
  network().cut(TcpProxy::Cut::kReset);
  for (int i = 0; i < 2; ++i) {
    sql(events(name(), fmt::format("outage{}", i), 1, 10'000));
    std::this_thread::sleep_for(1s);
    EXPECT_LE(resident_mib(relay.pid()), 64) << "with " << (i + 1) * 10'000 << " rows waiting";
    relay.stop();
    relay.start();
    ASSERT_TRUE(owned_by(relay));
  }
  network().set_refusing(false);
  ASSERT_TRUE(published(20'100)) << relay.log();
  EXPECT_EQ(value("select count(*) from spillway.settled"), "0");

  // Saving is blocked: acknowledgements are served all the same, until `limits.ahead` at the latest.
  OpenTransaction blocking(uri());
  blocking.run("select * from spillway.progress for update");
  sql(events(name(), "blocked", 1, 20'000));
  EXPECT_TRUE(eventually([&] { return records().size() >= 40'100; }, 30s, 500ms)) << relay.log();
  std::this_thread::sleep_for(6s);  // longer than a statement may be silent
  blocking.commit();
  EXPECT_TRUE(all_done()) << relay.log();
  EXPECT_EQ(expect_complete().duplicates, 0);
}

}  // namespace
}  // namespace spillway::testing
