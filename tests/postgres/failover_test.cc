// Sessions that only read must notice by themselves that their server is no longer the primary.
#include <gtest/gtest.h>

#include "postgres/outbox.h"
#include "support/eventually.h"

namespace spillway::testing {
namespace {

class FormerPrimary : public ::testing::Test {
 protected:
  void demote() {
    server_.set("default_transaction_read_only", "on");
    server_.reload();
  }

  PostgresServer server_;
  Outbox outbox_{server_};
};

TEST_F(FormerPrimary, IsNotReadAsIfNothingArrived) {
  Follower follower(outbox_);
  outbox_.insert();
  EXPECT_EQ(follower.read().size(), 1U);
  demote();
  // The setting reaches an idle session within moments of the reload.
  EXPECT_TRUE(eventually([&] {
    const auto page = follower.read_page();
    return !page && page.error().error_class == base::ErrorClass::kUnavailable;
  }));
}

TEST_F(FormerPrimary, IsNotAskedForTheSavedPlace) {
  const auto store = outbox_.store();
  const auto ledger = store->open_ledger();
  ASSERT_TRUE(ledger->load());
  demote();
  EXPECT_TRUE(eventually([&] {
    const auto loaded = ledger->load();
    return !loaded && loaded.error().error_class == base::ErrorClass::kUnavailable;
  }));
}

TEST_F(FormerPrimary, IsLeftByTheSessionThatWatchesForAPause) {
  const auto store = outbox_.store();
  const auto session = store->open_operator();
  ASSERT_TRUE(session->controls());
  const auto stays = [&] {
    return server_.value("select count(*) from pg_stat_activity where datname = '" + outbox_.database() +
                         "' and query like '%spillway.control%'") == "1";
  };
  EXPECT_TRUE(stays());
  demote();
  EXPECT_TRUE(eventually([&] { return session->controls() && !stays(); }));
}

}  // namespace
}  // namespace spillway::testing
