// Crashes of PostgreSQL that hand out transaction ids again: what was read before must be forgotten, or rows are lost.
#include <algorithm>

#include "postgres/outbox.h"
#include "support/eventually.h"
#include "support/pgbouncer.h"
#include "support/tcp_proxy.h"

namespace spillway::testing {
namespace {

using base::ErrorClass;
using Seqs = std::vector<std::int64_t>;

// Reads the class of the first failure that is not about the connection itself.
ErrorClass failure_after_crash(Follower& follower) {
  ErrorClass last = ErrorClass::kUnavailable;
  eventually(
      [&] {
        const auto page = follower.read_page();
        if (page) {
          last = ErrorClass::kFatal;  // the crash went unnoticed
          return true;
        }
        last = page.error().error_class;
        return last != ErrorClass::kUnavailable && last != ErrorClass::kTransient;
      },
      std::chrono::seconds(30));
  return last;
}

// Leaves transaction ids in the follower's snapshot whose WAL was never flushed.
void read_past_unflushed_ids(const Outbox& outbox, Follower& follower) {
  Session session(outbox.uri());
  for (int i = 0; i < 5; ++i) {
    session.run("begin");
    session.insert();
    session.run("rollback");
  }
  EXPECT_EQ(follower.read(), Seqs{});
  EXPECT_NE(follower.at().frame.from, "");
}

enum class Fault { kBackend, kServer };

void expect_nothing_lost(PostgresServer& server, const Outbox& outbox, Follower& follower, Fault fault) {
  const std::int64_t first = outbox.insert();
  EXPECT_EQ(follower.read(), Seqs{first});
  auto ledger = follower.store().open_ledger();
  const base::Uuid holder = base::random_uuid();
  const auto lease = follower.store().open_lease()->acquire(holder, "test", std::chrono::minutes(5));
  ASSERT_TRUE(lease && lease->mine);
  const ports::Fence fence{holder, lease->lease.epoch, follower.incarnation()};
  ASSERT_TRUE(ledger->save(fence, {{follower.at(), {}}, 1, {}}));
  read_past_unflushed_ids(outbox, follower);
  const model::Position poisoned = follower.at();

  if (fault == Fault::kBackend) {
    Session victim(outbox.uri());
    server.kill9_backend(victim.backend());
  } else {
    server.kill9();
    server.start();
  }
  Seqs written;
  for (int i = 0; i < 3; ++i) written.push_back(outbox.insert());

  // What is in memory no longer counts, for reading and for writing.
  EXPECT_EQ(failure_after_crash(follower), ErrorClass::kLostPlace);
  base::Status saved;
  ASSERT_TRUE(eventually([&] {
    saved = ledger->save(fence, {{poisoned, {}}, 0, {}});
    return saved || saved.error().error_class == ErrorClass::kLostPlace ||
           saved.error().error_class == ErrorClass::kLostLease;
  }));
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().error_class, ErrorClass::kLostPlace) << saved.error().message;
  follower.reload();
  EXPECT_EQ(follower.read(), written);
}

TEST(Crash, AKilledBackendLosesNoRow) {
  PostgresServer server;
  Outbox outbox(server);
  Follower follower(outbox);
  expect_nothing_lost(server, outbox, follower, Fault::kBackend);
}

TEST(Crash, AKilledServerLosesNoRow) {
  PostgresServer server;
  Outbox outbox(server);
  Follower follower(outbox);
  expect_nothing_lost(server, outbox, follower, Fault::kServer);
}

TEST(Crash, AKilledBackendBehindAPoolerLosesNoRow) {
  PostgresServer server;
  Outbox outbox(server);
  PgBouncer pooler(server);
  Follower follower({{pooler.uri(outbox.database())}, "default", {}});
  expect_nothing_lost(server, outbox, follower, Fault::kBackend);
}

TEST(Crash, AKilledServerBehindAPoolerLosesNoRow) {
  PostgresServer server;
  Outbox outbox(server);
  PgBouncer pooler(server);
  Follower follower({{pooler.uri(outbox.database())}, "default", {}});
  expect_nothing_lost(server, outbox, follower, Fault::kServer);
}

TEST(Crash, ACleanRestartKeepsThePlace) {
  PostgresServer server;
  Outbox outbox(server);
  Follower follower(outbox);
  const std::int64_t a = outbox.insert();
  EXPECT_EQ(follower.read(), Seqs{a});
  server.stop_fast();
  const auto down = follower.read_page();
  ASSERT_FALSE(down);
  EXPECT_EQ(down.error().error_class, ErrorClass::kUnavailable) << down.error().message;
  server.start();
  const std::int64_t b = outbox.insert();
  EXPECT_EQ(follower.read(), Seqs{b});
}

TEST(Crash, APromotedStandbyThatLostTheLastCommitsLosesNoRowOfItsOwn) {
  PostgresServer primary;
  Outbox outbox(primary);
  Follower follower(outbox);
  outbox.insert();
  EXPECT_EQ(follower.read().size(), 1U);
  auto ledger = follower.store().open_ledger();
  const base::Uuid holder = base::random_uuid();
  const auto lease = follower.store().open_lease()->acquire(holder, "test", std::chrono::minutes(5));
  ASSERT_TRUE(lease && lease->mine);
  ASSERT_TRUE(ledger->save({holder, lease->lease.epoch, follower.incarnation()}, {{follower.at(), {}}, 1, {}}));
  const model::Position saved = follower.at();

  auto standby = primary.make_standby();
  const std::string progress = "select coalesce(max(live_from), '') from spillway.progress";
  ASSERT_TRUE(eventually([&] { return standby->value(progress, outbox.database()) == saved.frame.from; }));
  standby->stop_fast();  // the tail of commits does not reach it
  for (int i = 0; i < 5; ++i) outbox.insert();
  EXPECT_EQ(follower.read().size(), 5U);
  const model::Position ahead = follower.at();
  const std::string incarnation = follower.incarnation();
  primary.kill9();
  standby->start();

  TcpProxy address(standby->port());
  const auto uri = "postgresql://postgres@127.0.0.1:" + std::to_string(address.port()) + "/" + outbox.database();
  postgres::OutboxStore store({{uri}, "default", {}});
  const auto before = store.open_reader()->read(ahead, incarnation, {});
  ASSERT_FALSE(before);
  EXPECT_NE(before.error().error_class, ErrorClass::kMisconfigured) << before.error().message;
  standby->promote();

  Seqs written;
  for (int i = 0; i < 8; ++i) {
    written.push_back(std::stoll(standby->value(Outbox::insert_sql("k"), outbox.database())));
  }
  auto reader = store.open_reader();
  const auto page = reader->read(ahead, incarnation, {});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().error_class, ErrorClass::kLostPlace) << page.error().message;
  const auto loaded = store.open_ledger()->load();
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->progress.live, saved);
  Follower after({{uri}, "default", {}});
  EXPECT_EQ(after.read(), written);
}

TEST(Crash, AStandbyTakesNoWrites) {
  PostgresServer primary;
  Outbox outbox(primary);
  outbox.insert();
  auto standby = primary.make_standby();
  ASSERT_TRUE(eventually([&] {
    return standby->value("select count(*) from pg_database where datname = '" + outbox.database() + "'") == "1";
  }));
  postgres::OutboxStore store({{standby->uri(outbox.database())}, "default", {}});
  const auto lease = store.open_lease()->acquire(base::random_uuid(), "test", std::chrono::seconds(10));
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().error_class, ErrorClass::kUnavailable) << lease.error().message;
  const auto inspected = store.inspect();
  ASSERT_FALSE(inspected);
  EXPECT_EQ(inspected.error().error_class, ErrorClass::kUnavailable) << inspected.error().message;
}

TEST(Crash, AFrozenServerHoldsNoCallLongerThanTheLimit) {
  PostgresServer server;
  Outbox outbox(server);
  auto options = outbox.options();
  options.connect.time_limit = std::chrono::milliseconds(500);
  Follower follower(options);
  auto ledger = follower.store().open_ledger();
  ASSERT_TRUE(ledger->load());
  ASSERT_TRUE(follower.read_page());
  server.freeze();
  const auto start = std::chrono::steady_clock::now();
  const auto page = follower.read_page();
  const auto loaded = ledger->load();
  const auto taken = std::chrono::steady_clock::now() - start;
  server.thaw();
  ASSERT_FALSE(page);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(page.error().error_class, ErrorClass::kUnavailable) << page.error().message;
  EXPECT_LT(taken, std::chrono::seconds(4));
  EXPECT_TRUE(follower.read_page());
  EXPECT_TRUE(ledger->load());
}

TEST(Crash, CutAndSilentConnectionsComeBack) {
  Outbox outbox;
  TcpProxy proxy(shared_server().port());
  auto options = outbox.options();
  options.connect.uri = "postgresql://postgres@127.0.0.1:" + std::to_string(proxy.port()) + "/" + outbox.database();
  options.connect.time_limit = std::chrono::milliseconds(500);
  Follower follower(options);
  for (const auto how : {TcpProxy::Cut::kClose, TcpProxy::Cut::kReset}) {
    const std::int64_t seq = outbox.insert();
    EXPECT_EQ(follower.read(), Seqs{seq});
    proxy.cut(how);
    const auto page = follower.read_page();
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().error_class, ErrorClass::kUnavailable) << page.error().message;
  }
  proxy.set_blackhole(true);
  EXPECT_FALSE(follower.read_page());
  EXPECT_FALSE(follower.read_page());
  proxy.set_blackhole(false);
  const std::int64_t seq = outbox.insert();
  EXPECT_EQ(follower.read(), Seqs{seq});
}

TEST(Crash, ASuspendedOwnersLockHoldsUpNoTakeOver) {
  // The lease is looked at in each write's own statement and let go at its end.
  Outbox outbox;
  auto store = outbox.store();
  auto ledger = store->open_ledger();
  auto lease = store->open_lease();
  const base::Uuid first = base::random_uuid();
  const auto taken = lease->acquire(first, "first", std::chrono::milliseconds(0));
  ASSERT_TRUE(taken);
  const ports::Fence fence{first, taken->lease.epoch, ledger->load()->incarnation};
  ASSERT_TRUE(ledger->save(fence, {}));
  EXPECT_EQ(outbox.number("select count(*) from pg_locks l join pg_class c on c.oid = l.relation "
                          "where c.relname in ('lease', 'progress')"),
            0);
  ASSERT_TRUE(store->open_lease()->acquire(base::random_uuid(), "second", std::chrono::seconds(10))->mine);
  const auto late = ledger->save(fence, {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().error_class, ErrorClass::kLostLease);
}

}  // namespace
}  // namespace spillway::testing
