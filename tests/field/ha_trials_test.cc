// Reports in which two relays worked at once, or none because a healthy one was taken for dead.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "field/field_report.h"
#include "support/pgbouncer.h"

namespace spillway::testing {
namespace {

// The time stamp of the first line that contains the words; empty where there is none.
std::string time_of(const std::string& log, const std::string& words) {
  std::istringstream text(log);
  for (std::string line; std::getline(text, line);) {
    if (line.find(words) != std::string::npos) return line.substr(0, line.find(' '));
  }
  return {};
}

TEST_F(FieldReport, BR055_BehindAPoolerALeaseThatIsNotRenewedEndsInTime) {
  broker().create_topic(name(), 3);
  const PgBouncer pooler(server());
  TcpProxy to_pooler(pooler.port());
  RelaySettings through_proxy = direct();
  through_proxy.store = fmt::format("postgresql://postgres@127.0.0.1:{}/{}", to_pooler.port(), database());
  RelaySettings settings = direct();
  settings.store = pooler.uri(database());
  RelayProcess leader(through_proxy), other(settings);
  leader.init();
  leader.start();
  ASSERT_TRUE(owned_by(leader)) << leader.log();
  other.start();
  insert("k", 1, 100);
  ASSERT_TRUE(published(100));
  to_pooler.set_blackhole(true);
  ASSERT_TRUE(owned_by(other)) << other.log();
  EXPECT_TRUE(eventually([&] { return !time_of(other.log(), "holds the lease").empty(); }));
  const std::string lost = time_of(leader.log(), "lost the lease");
  EXPECT_FALSE(lost.empty()) << leader.log();
  EXPECT_LE(lost, time_of(other.log(), "holds the lease")) << "two at once";
  to_pooler.set_blackhole(false);
  for (int i = 0; i < 10; ++i) insert("k", 101 + i * 10, 110 + i * 10);
  ASSERT_TRUE(all_done()) << other.log();
  std::this_thread::sleep_for(1s);
  EXPECT_TRUE(owned_by(other, 0ms));
  EXPECT_EQ(value("select epoch from spillway.lease"), "2");
  EXPECT_EQ(expect_complete().duplicates, 0);
}

TEST_F(FieldReport, BR058_BlockedWorkDoesNotEndTheLeaseAndIsSeen) {
  broker().create_topic(name(), 3);
  RelayProcess leader(direct()), other(direct());
  leader.init();
  leader.start();
  ASSERT_TRUE(owned_by(leader));
  other.start();
  insert("k", 1, 100);
  ASSERT_TRUE(published(100));
  // A send that is not answered and a table that cannot be read, for longer than the lease lasts.
  broker().freeze();
  insert("k", 101, 200);
  std::this_thread::sleep_for(500ms);
  {
    OpenTransaction blocking(uri());
    blocking.run("lock table spillway.outbox in access exclusive mode");
    std::this_thread::sleep_for(13s);
    EXPECT_EQ(value("select epoch from spillway.lease"), "1");
    EXPECT_TRUE(owned_by(leader, 0ms));
    EXPECT_EQ(leader.command("status --check").exit_status, 3) << "it lives and does not work: someone should know";
  }
  broker().thaw();
  ASSERT_TRUE(all_done()) << leader.log();
  // No processor for five seconds.
  leader.freeze();
  std::this_thread::sleep_for(5s);
  leader.thaw();
  insert("k", 201, 300);
  ASSERT_TRUE(all_done()) << leader.log();
  EXPECT_EQ(value("select epoch from spillway.lease"), "1");
  expect_complete();
}

}  // namespace
}  // namespace spillway::testing
