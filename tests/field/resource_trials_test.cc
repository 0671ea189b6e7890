// Reports in which memory, the table or its dead rows grew until nothing worked.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "field/field_report.h"
#include "field/http_get.h"
#include "field/memory_of.h"

namespace spillway::testing {
namespace {

TEST_F(FieldReport, BR051_ReadyAtOnceWhateverIsWaitingAndOneSends) {
  broker().create_topic(name(), 3);
  std::vector<std::unique_ptr<RelayProcess>> relays;
  for (int i = 0; i < 3; ++i) relays.push_back(std::make_unique<RelayProcess>(direct()));
  relays[0]->init();
  insert_many(name(), 1'000, 100);
  for (int round = 0; round < 3; ++round) {
    const auto start = Clock::now();
    for (auto& relay : relays) relay->start();
    for (auto& relay : relays) {
      EXPECT_TRUE(eventually([&] { return http_status(relay->http_port(), "/readyz") == 200; }, 5s)) << relay->log();
    }
    std::cout << "three ready after " << std::chrono::duration<double>(Clock::now() - start).count() << " s\n";
    if (round == 2) break;
    ASSERT_TRUE(eventually([&] { return std::stoll(value("select count(*) from spillway.lease")) == 1; }));
    std::this_thread::sleep_for(200ms);
    for (auto& relay : relays) relay->kill9();
    expire_lease();
  }
  ASSERT_TRUE(all_done(90s)) << relays[0]->log();
  const Delivery found = expect_complete();
  EXPECT_EQ(found.committed, 100'000);
  EXPECT_LE(found.duplicates, 2 * 30'000) << "what was in flight or not saved, once a kill";
}

TEST_F(FieldReport, BR065_MemoryDoesNotGrowWithTheBacklog) {
  broker().create_topic(name(), 3);
  RelayProcess relay(proxied());
  relay.init();
  // 144 MB in rows of 18 kB, while the broker is away.
  sql(
      fmt::format("insert into spillway.outbox (aggregatetype, aggregateid, type, payload) "
                  "select '{}', 'k' || n % 50, 'made', 'k' || n % 50 || ' ' || n || repeat(' ', 18000) "
                  "from generate_series(1, 8000) n",
                  name()));
  network().set_refusing(true);
  relay.start();
  ASSERT_TRUE(owned_by(relay));
  std::this_thread::sleep_for(3s);
  std::cout << "waiting: " << resident_mib(relay.pid()) << " MiB\n";
  network().set_refusing(false);
  ASSERT_TRUE(published(8'000, 60s)) << relay.log();
  const long peak = peak_resident_mib(relay.pid());
  std::cout << "peak: " << peak << " MiB\n";
  EXPECT_LE(peak, 64) << "144 MB are waiting";
  EXPECT_EQ(expect_complete().duplicates, 0);
}

TEST_F(FieldReport, BR067_CleanupGoesInPiecesBesideBusyWriters) {
  broker().create_topic(name(), 3);
  RelaySettings settings = direct();
  RelayProcess first(settings);
  first.init();
  insert_many(name(), 1'000, 30);
  first.start();
  ASSERT_TRUE(all_done(60s)) << first.log();
  first.stop();
  settings.env = {{"SPILLWAY_OUTBOX_CLEANUP_KEEP", "0s"}};
  RelayProcess one(settings), two(settings), three(settings);
  one.start();
  two.start();
  three.start();
  std::vector<double> seconds;
  std::int64_t written = 0;
  const bool cleaned = eventually(
      [&] {
        const auto start = Clock::now();
        insert("busy", written + 1, written + 5);
        written += 5;
        seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        return std::stoll(value("select count(*) from spillway.outbox where aggregateid <> 'busy'")) == 0;
      },
      60s, 2ms);
  EXPECT_TRUE(cleaned) << "never idle, and cleaned all the same";
  std::ranges::sort(seconds);
  std::cout << seconds.size() << " inserts beside the cleanup, p99 "
            << seconds[seconds.size() - 1 - seconds.size() / 100] << " s\n";
  EXPECT_LE(seconds[seconds.size() - 1 - seconds.size() / 100], 1.0);
  EXPECT_EQ(value("select deadlocks from pg_stat_database where datname = current_database()"), "0");
  std::set<std::string> arrived;
  EXPECT_TRUE(eventually(
      [&] {
        for (const TopicRecord& record : records()) {
          if (record.key == "busy") arrived.insert(*record.value);
        }
        return arrived.size() == static_cast<std::size_t>(written);
      },
      20s, 200ms));
}

TEST_F(FieldReport, BR068_TheOutboxHasNoDeadRowsAndOldReadersDoNotSlowTheRelay) {
  broker().create_topic(name(), 3);
  RelayProcess relay(direct());
  relay.init();
  relay.start();
  ASSERT_TRUE(owned_by(relay));
  OpenTransaction analytics(uri(), "begin isolation level repeatable read");
  analytics.run("select count(*) from spillway.outbox");
  const auto start = Clock::now();
  std::int64_t written = 0;
  while (Clock::now() - start < 8s) {
    insert("k", written + 1, written + 40);
    written += 40;
    std::this_thread::sleep_for(45ms);
  }
  EXPECT_TRUE(published(written, 5s)) << "no silent backlog";
  std::cout << written << " rows in " << std::chrono::duration<double>(Clock::now() - start).count() << " s\n";
  std::this_thread::sleep_for(1500ms);  // until the statistics are in
  EXPECT_EQ(value("select n_tup_upd + n_tup_del + n_dead_tup from pg_stat_user_tables where relname = 'outbox'"), "0");
  // A save at most every 100 ms.
  EXPECT_LE(std::stoll(value("select n_tup_upd from pg_stat_user_tables where relname = 'progress'")), 120);
  EXPECT_EQ(expect_complete().duplicates, 0);
}

}  // namespace
}  // namespace spillway::testing
