#include "spillway_observations.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "http/server.h"
#include "signals/observations.h"
#include "support/eventually.h"

namespace spillway::observations {
namespace {

using namespace std::chrono_literals;
using spillway::testing::eventually;

// What a relay's endpoint does with a body, counted.
class Relay {
 public:
  explicit Relay(std::string token = {}) {
    auto server = http::Server::listen(loop_, {.port = 0, .token = std::move(token)});
    if (!server) throw std::runtime_error(server.error().message);
    server_ = std::move(*server);
    server_->route("POST", "/api/observations", [this](const http::Request& request, const http::Reply& reply) {
      const auto read = signals::read_observations(request.body);
      if (!read) return reply(http::error_response(400, read.error().message));
      for (const auto& one : *read) take(one);
      reply(http::json_response(200, "{}"));
    });
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Relay() {
    boost::asio::post(loop_, [this] {
      server_.reset();
      loop_.stop();
    });
    thread_.join();
  }

  std::uint16_t port() const { return server_->port(); }

  struct Sums {
    double calls = 0, failed = 0, total_s = 0, longest_s = 0;
  };
  Sums sums() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return sums_;
  }

 private:
  void take(const signals::Observation& one) {
    EXPECT_EQ(one.name, "bank");
    const std::lock_guard<std::mutex> lock(mutex_);
    sums_.calls += one.count;
    sums_.failed += one.ok ? 0 : one.count;
    sums_.total_s += one.count * one.latency_s;
    sums_.longest_s = std::max(sums_.longest_s, one.latency_s);
  }

  boost::asio::io_context loop_;
  std::unique_ptr<http::Server> server_;
  mutable std::mutex mutex_;
  Sums sums_;
  std::thread thread_;
};

TEST(ObservationsClient, TellsEveryCallOnce) {
  const Relay relay;
  {
    Client client({.signal = "bank", .port = relay.port(), .every = 5ms});
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&] {
        for (int i = 0; i < 5000; ++i) client.record(std::chrono::microseconds(100 + i % 1000), i % 50 != 0);
      });
    }
    for (std::thread& caller : callers) caller.join();
    client.record(3s, true);
    ASSERT_TRUE(eventually([&] { return relay.sums().calls == 20'001; })) << relay.sums().calls << client.last_error();
    EXPECT_EQ(client.lost(), 0u);
  }
  const auto sums = relay.sums();
  EXPECT_EQ(sums.failed, 400);
  EXPECT_NEAR(sums.total_s, 20'000 * 599.5e-6 + 3, 0.001) << "means survive the cells";
  EXPECT_NEAR(sums.longest_s, 3, 1e-6);
}

TEST(ObservationsClient, TellsTheRestWhenItEnds) {
  const Relay relay;
  { Client({.signal = "bank", .port = relay.port(), .every = 1h}).record(1ms, true); }
  EXPECT_EQ(relay.sums().calls, 1);
}

TEST(ObservationsClient, LosesAndCountsWhatNobodyTakes) {
  std::uint16_t port = 0;
  { port = Relay().port(); }
  Client client({.signal = "bank", .port = port, .every = 5ms, .timeout = 100ms});
  const auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) client.record(1ms, true);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 1s) << "the caller does not wait for the network";
  EXPECT_TRUE(eventually([&] { return client.lost() == 1000; }));
  EXPECT_EQ(client.last_error(), "Connection refused");
}

TEST(ObservationsClient, SaysWhyItIsRefused) {
  const Relay relay("s3cret");
  {
    Client stranger({.signal = "bank", .port = relay.port(), .every = 5ms});
    stranger.record(1ms, true);
    ASSERT_TRUE(eventually([&] { return stranger.lost() == 1; }));
    EXPECT_EQ(stranger.last_error().substr(0, 12), "answers 401:");
  }
  Client client({.signal = "bank", .port = relay.port(), .token = "s3cret", .every = 5ms});
  client.record(1ms, true);
  EXPECT_TRUE(eventually([&] { return relay.sums().calls == 1; })) << client.last_error();
}

TEST(ObservationsClient, LosesWhatFallsIntoAnOutage) {
  auto relay = std::make_unique<Relay>();
  Client client({.signal = "bank", .port = relay->port(), .every = 5ms});
  client.record(1ms, true);
  ASSERT_TRUE(eventually([&] { return relay->sums().calls == 1; }));
  relay.reset();
  client.record(1ms, true);
  EXPECT_TRUE(eventually([&] { return client.lost() == 1; })) << client.last_error();
}

TEST(ObservationsClient, RefusesANameThatNoSignalCanHave) {
  EXPECT_THROW(Client({.signal = ""}), std::invalid_argument);
  EXPECT_THROW(Client({.signal = "a\"b"}), std::invalid_argument);
}

}  // namespace
}  // namespace spillway::observations
