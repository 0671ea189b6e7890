// One owner: who takes over, how soon, and what a relay that wakes up too late may still do.
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <thread>

#include "relay/relay_process.h"
#include "support/eventually.h"
#include "support/kafka_broker.h"
#include "support/postgres_server.h"
#include "support/topic_reader.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Ownership : public ::testing::Test {
 protected:
  void SetUp() override {
    broker_.create_topic("events", 3);
    first_.init();
    first_.start();
    ASSERT_TRUE(owned_by(first_)) << first_.log();
    second_.start();
    carry_one();
  }

  bool owned_by(RelayProcess& relay, std::chrono::milliseconds limit = 15s) {
    return eventually(
        [&] {
          return server_.value("select count(*) from spillway.lease where holder_name like '%/" +
                               std::to_string(relay.pid()) + "'") == "1";
        },
        limit);
  }

  void insert() {
    ++inserted_;
    server_.execute(
        "insert into spillway.outbox (aggregatetype, aggregateid, type, payload) values ('events', 'k', 't', '" +
        std::to_string(inserted_) + "')");
  }
  bool arrived() {
    return eventually(
        [&] { return TopicReader(broker_.bootstrap()).read_all("events").size() >= std::size_t(inserted_); }, 15s,
        50ms);
  }
  void carry_one() {
    insert();
    ASSERT_TRUE(arrived()) << first_.log() << second_.log();
  }

  // What arrived counts as published only once that is saved; until then the next owner publishes it again.
  bool saved() {
    return eventually([&] {
      return server_.value(
                 "select count(*) from spillway.outbox o, spillway.progress p where p.live_to = '' and "
                 "pg_visible_in_snapshot(o.tx, p.live_from::pg_snapshot)") == std::to_string(inserted_);
    });
  }

  PostgresServer server_;
  KafkaBroker broker_;
  RelaySettings settings_{.store = server_.uri(), .bootstrap = broker_.bootstrap()};
  RelayProcess first_{settings_};
  RelayProcess second_{settings_};
  int inserted_ = 0;
};

TEST_F(Ownership, IsTakenOverWithin15SecondsOfAKill9) {
  const auto start = Clock::now();
  first_.kill9();
  ASSERT_TRUE(owned_by(second_));
  std::cout << "taken over after " << std::chrono::duration<double>(Clock::now() - start).count() << " s\n";
  EXPECT_LE(Clock::now() - start, 15s);
  carry_one();
}

TEST_F(Ownership, IsHandedOverWithinASecondOfSigterm) {
  const auto start = Clock::now();
  const auto end = first_.stop();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_status, 0) << first_.log();
  ASSERT_TRUE(owned_by(second_));
  const std::chrono::duration<double> took = Clock::now() - start;
  std::cout << "handed over after " << took.count() << " s\n";
  EXPECT_LE(took, 1s);
  carry_one();
}

// As from a terminal whose Ctrl-C reaches the relay once by itself and once by the program that started it.
TEST_F(Ownership, IsHandedOverWhenOneSignalComesTwice) {
  const auto start = Clock::now();
  ASSERT_EQ(::kill(first_.pid(), SIGINT), 0);
  const auto end = first_.stop();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_status, 0) << first_.log();
  ASSERT_TRUE(owned_by(second_));
  EXPECT_LE(Clock::now() - start, 1s);
}

// The limit is 5 s, and the lease has at least one.
TEST_F(Ownership, ADatabaseThatDoesNotAnswerHoldsUpNoEnd) {
  server_.freeze();
  const auto start = Clock::now();
  const auto end = first_.stop();
  const auto took = Clock::now() - start;
  server_.thaw();
  ASSERT_TRUE(end) << "still runs";
  EXPECT_EQ(end->exit_status, 1) << first_.log();
  EXPECT_LE(took, 6500ms) << first_.log();
  EXPECT_NE(first_.log().find("the lease is not freed"), std::string::npos) << first_.log();
}

TEST_F(Ownership, ASecondSignalEndsItEvenIfTheDatabaseDoesNotAnswer) {
  server_.freeze();
  ASSERT_EQ(::kill(first_.pid(), SIGTERM), 0);
  ASSERT_TRUE(eventually([&] { return first_.log().find("stops:") != std::string::npos; }));
  std::this_thread::sleep_for(250ms);  // two signals of a person, not one that came twice
  const auto end = first_.stop(1s);
  server_.thaw();
  ASSERT_TRUE(end) << "still runs\n" << first_.log();
  EXPECT_EQ(end->exit_status, 1) << first_.log();
}

TEST_F(Ownership, ARelayThatWakesAfterItsLeaseWritesNothingAndSendsNothing) {
  ASSERT_TRUE(saved());
  first_.freeze();
  ASSERT_TRUE(owned_by(second_));
  carry_one();
  const std::string epoch = server_.value("select epoch from spillway.lease");
  first_.thaw();
  for (int i = 0; i < 20; ++i) carry_one();
  EXPECT_TRUE(owned_by(second_, 0ms));
  EXPECT_EQ(server_.value("select epoch from spillway.lease"), epoch);
  const auto records = TopicReader(broker_.bootstrap()).read_all("events");
  std::set<std::string> values;
  for (const auto& record : records) values.insert(*record.value);
  EXPECT_EQ(records.size(), values.size()) << "each event came once";
  EXPECT_TRUE(eventually([&] { return first_.log().find("lost the lease") != std::string::npos; })) << first_.log();
}

}  // namespace
}  // namespace spillway::testing
