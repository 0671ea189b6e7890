#include "relay/torture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>

#include "relay/delivery_check.h"
#include "relay/relay_process.h"
#include "relay/writers.h"
#include "support/eventually.h"
#include "support/kafka_broker.h"
#include "support/postgres_server.h"
#include "support/tcp_proxy.h"

namespace spillway::testing {
namespace {

using namespace std::chrono_literals;

std::uint64_t seed() {
  const char* given = std::getenv("SPILLWAY_TORTURE_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

class Surroundings {
 public:
  explicit Surroundings(std::uint64_t seed) : random_(seed) {
    broker.create_topic("torture", 6);
    relay.init();
  }

  std::chrono::milliseconds moment(int most) {
    return std::chrono::milliseconds(random_() % static_cast<unsigned>(most));
  }
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

  void kill_one_backend() {
    const auto pids = server.execute(
        "select pid from pg_stat_activity where backend_type = 'client backend' and query like '%outbox%' and pid <> "
        "pg_backend_pid() limit 1");
    if (!pids.empty()) server.kill9_backend(static_cast<pid_t>(std::stol(*pids[0][0])));
  }

  PostgresServer server{PostgresOptions{.settings = {{"max_connections", "60"}}}};
  KafkaBroker broker;
  TcpProxy database{server.port()};
  RelayProcess relay{{.store = "postgresql://postgres@127.0.0.1:" + std::to_string(database.port()) + "/postgres",
                      .bootstrap = broker.bootstrap()}};

 private:
  std::mt19937_64 random_;
};

}  // namespace

void torture(const Torture& torture) {
  const std::uint64_t chosen = seed();
  std::cout << "seed " << chosen << std::endl;
  Surroundings s(chosen);
  s.relay.start();
  Writers writers({.uri = s.server.uri(), .events = torture.events, .seed = chosen, .longest_pause_ms = 160});

  const auto faults = std::vector<std::function<void()>>{
      [&] { s.broker.stop(), s.pass(torture.broker_away), s.broker.start(); },
      [&] { s.broker.freeze(), s.pass(torture.broker_away), s.broker.thaw(); },
      [&] { s.server.stop_fast(), s.server.start(); },
      [&] { s.server.kill9(), s.server.start(); },
      [&] { s.kill_one_backend(); },
      [&] { s.database.cut(TcpProxy::Cut::kReset); },
      [&] { s.database.set_blackhole(true), s.pass(2s), s.database.set_blackhole(false); }};
  std::size_t next = 0;
  for (int kill = 0; kill < torture.relay_kills; ++kill) {
    s.pass(500ms + s.moment(1'500));
    s.relay.kill9();
    s.relay.start();
    if (next < faults.size()) faults[next++]();
    // Long enough for the dead relay's lease to end, so that the new one has work in hand when it is killed.
    s.pass(11s);
  }
  for (; next < faults.size(); ++next) faults[next](), s.pass(1s + s.moment(1'000));
  writers.finish();

  const auto waiting = [&] {
    return s.server.value(
               "select count(*) from spillway.outbox o, spillway.progress p where p.live_to = '' and "
               "not pg_visible_in_snapshot(o.tx, p.live_from::pg_snapshot)") == "0" &&
           s.server.value("select count(*) from spillway.progress") == "1";
  };
  EXPECT_TRUE(eventually(waiting, 120s, 200ms)) << s.relay.log();
  s.relay.stop();
  const Delivery found = check_delivery(s.server, s.broker.bootstrap(), "torture");
  std::cout << "committed " << found.committed << ", duplicates " << found.duplicates << " after "
            << torture.relay_kills << " kills and " << faults.size() << " other faults" << std::endl;
  EXPECT_GE(found.committed, torture.events);
  EXPECT_EQ(found.lost, 0);
  EXPECT_EQ(found.foreign, 0);
  EXPECT_EQ(found.inversions, 0);
  EXPECT_LE(found.duplicates, static_cast<std::int64_t>(torture.relay_kills + faults.size()) * 110'000);
}

}  // namespace spillway::testing
