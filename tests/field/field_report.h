// The surroundings of the trials in docs/field-reports.md: for a whole program one PostgreSQL, one Kafka broker that
// creates no topics, and a proxy before the broker; for each trial a database, topics and relays of its own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "relay/delivery_check.h"
#include "relay/relay_process.h"
#include "support/eventually.h"
#include "support/kafka_broker.h"
#include "support/postgres_server.h"
#include "support/tcp_proxy.h"
#include "support/topic_reader.h"

struct pg_conn;

namespace spillway::testing {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A writer's transaction, begun at once and rolled back unless it is committed.
class OpenTransaction {
 public:
  explicit OpenTransaction(const std::string& uri, const std::string& begin = "begin");
  void run(const std::string& sql);
  void commit() { run("commit"); }

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };
  std::unique_ptr<pg_conn, Finish> connection_;
};

class FieldReport : public ::testing::Test {
 public:
  static void stop_services() { services_.reset(); }

 protected:
  static void SetUpTestSuite();  // of the first suite of the program starts the services

  static PostgresServer& server() { return *services_->server; }
  static KafkaBroker& broker() { return *services_->broker; }
  static TcpProxy& network() { return services_->network; }  // between a proxied relay and the broker

  // A database of its own; name() is the test's, up to a '_' and in small letters (br007), for topics.
  void SetUp() override;
  void TearDown() override;
  const std::string& name() const { return name_; }
  const std::string& database() const { return database_; }
  std::string uri() const { return server().uri(database_); }

  RelaySettings direct() const { return {.store = uri(), .bootstrap = broker().bootstrap()}; }
  RelaySettings proxied() const;

  void sql(const std::string& text) const { server().execute(text, database_); }
  std::string value(const std::string& text) const { return server().value(text, database_); }

  // The statement that adds the events `first` to `last` of a key, with payload "KEY N".
  static std::string events(const std::string& topic, const std::string& key, std::int64_t first, std::int64_t last);
  void insert(const std::string& key, std::int64_t first, std::int64_t last) const {
    sql(events(name_, key, first, last));
  }
  // The events 1 to `each` of the keys k1 to k`keys`, the keys taking turns, in one transaction.
  void insert_many(const std::string& topic, int keys, int each) const;

  std::vector<TopicRecord> records(const std::string& topic) const {
    return TopicReader(broker().bootstrap()).read_all(topic);
  }
  std::vector<TopicRecord> records() const { return records(name_); }

  // True once so many publications are on record for the outbox (repeated ones count).
  bool published(std::int64_t count, std::chrono::milliseconds limit = 30s) const;
  // True once every row that is committed now is set aside or before the relay's saved place.
  bool all_done(std::chrono::milliseconds limit = 30s) const;

  // Nothing lost, nothing invented, no key out of order.
  Delivery expect_complete(const std::string& topic) const;
  Delivery expect_complete() const { return expect_complete(name_); }

  // Waits until this relay holds the lease of the trial's outbox.
  [[nodiscard]] bool owned_by(const RelayProcess& relay, std::chrono::milliseconds limit = 20s) const;
  // Ends the lease of a relay that is dead already; trials that kill often do not wait 10 s each time.
  void expire_lease() const { sql("update spillway.lease set expires_at = clock_timestamp() - interval '1 second'"); }

 private:
  struct Services {
    TcpProxy network;
    std::unique_ptr<PostgresServer> server;
    std::unique_ptr<KafkaBroker> broker;
  };
  inline static std::unique_ptr<Services> services_;
  std::string name_;
  std::string database_;
};

}  // namespace spillway::testing
