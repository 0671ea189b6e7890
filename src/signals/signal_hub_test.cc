#include "signals/signal_hub.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "http/server.h"
#include "kafka/mock_cluster.h"

namespace spillway::signals {
namespace {

using namespace std::chrono_literals;
using config::SignalConfig;
using config::SignalKind;
using testing::HasSubstr;

// The hub and the service that it asks share one loop, on the test's own thread.
class SignalHubTest : public testing::Test {
 protected:
  SignalHubTest() {
    auto server = http::Server::listen(loop_.context(), {.port = 0});
    if (!server) throw std::runtime_error(server.error().message);
    server_ = std::move(*server);
    server_->route("GET", "/metrics", [this](const http::Request&, const http::Reply& reply) { reply(metrics()); });
    server_->route("GET", "/probe", [this](const http::Request&, const http::Reply& reply) {
      reply(http::text_response(probe_status_, "deep"));
    });
  }

  std::string url(const std::string& path) const { return "http://" + server_->address() + path; }

  SignalConfig scraped() const {
    return {.name = "bank",
            .urls = {url("/metrics")},
            .every = 250ms,
            .timeout = 200ms,
            .histogram = "call_seconds",
            .errors = "call_errors_total",
            .latency_ceiling = 400ms,
            .error_ceiling = config::Ratio{0.02}};
  }

  void open(std::vector<SignalConfig> signals, const kafka::Properties& properties = {}) {
    auto hub = SignalHub::open(loop_, std::move(signals), properties);
    ASSERT_TRUE(hub) << hub.error().message;
    hub_ = std::move(*hub);
  }

  // Turns the loop until something holds, for ten seconds at most.
  template <typename Condition>
  [[nodiscard]] bool until(Condition condition) {
    const auto limit = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      loop_.context().run_one_for(50ms);
    }
    return true;
  }

  [[nodiscard]] bool until_samples(std::size_t count) {
    return until([&] {
      for (auto& sample : hub_->take()) samples_.push_back(std::move(sample));
      return samples_.size() >= count;
    });
  }

  SignalFigures figures(std::size_t index = 0) const { return hub_->figures(runtime::Loop::now()).at(index); }

  http::Response metrics() {
    ++asked_;
    if (metrics_status_ != 200) return http::text_response(metrics_status_, "busy");
    if (!body_.empty()) return http::text_response(200, body_);
    const int calls = asked_ * 50;
    return http::text_response(
        200, fmt::format("# TYPE call_seconds histogram\ncall_seconds_bucket{{le=\"0.1\"}} {0}\n"
                         "call_seconds_bucket{{le=\"+Inf\"}} {0}\ncall_seconds_sum {1}\ncall_seconds_count {0}\n"
                         "call_errors_total {2}\n",
                         calls, calls * 0.05, asked_));
  }

  runtime::Loop loop_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<SignalHub> hub_;
  std::vector<governor::SignalSample> samples_;
  std::string body_;
  unsigned probe_status_ = 200;
  unsigned metrics_status_ = 200;
  int asked_ = 0;
};

TEST_F(SignalHubTest, ScrapesWindowsOfASecond) {
  open({scraped()});
  ASSERT_TRUE(until_samples(1));
  const governor::SignalSample& sample = samples_.front();
  EXPECT_EQ(sample.signal, 0u);
  EXPECT_NEAR(sample.window_s, 1, 0.2);
  EXPECT_GE(sample.completions, 200);
  EXPECT_NEAR(sample.good, sample.completions * 0.98, 1e-6);
  EXPECT_NEAR(*sample.mean_s, 0.05, 1e-9);
  const SignalFigures f = figures();
  EXPECT_EQ(f.name, "bank");
  EXPECT_EQ(f.ceiling_s, 0.4);
  EXPECT_EQ(f.trouble, "");
}

TEST_F(SignalHubTest, SaysWhatAnswersInsteadOfMetrics) {
  body_ = "<html>log in</html>";
  open({scraped()});
  ASSERT_TRUE(until([&] { return figures().trouble == "answers HTML, not metrics"; })) << figures().trouble;
  EXPECT_EQ(figures().state, SignalState::kStarting);
  body_ = "up 1\n";
  ASSERT_TRUE(until([&] { return figures().trouble == "has no histogram call_seconds"; })) << figures().trouble;
  EXPECT_TRUE(hub_->take().empty());
  EXPECT_EQ(hub_->figures(runtime::Loop::now() + 10s).at(0).state, SignalState::kMissing);
}

TEST_F(SignalHubTest, MetricsThatAreRefusedAreTroubleAndNoSample) {
  metrics_status_ = 503;
  open({scraped()});
  ASSERT_TRUE(until([&] { return figures().trouble == "answers 503, not metrics"; })) << figures().trouble;
  ASSERT_TRUE(until([&] { return asked_ >= 6; }));
  EXPECT_TRUE(hub_->take().empty());
}

TEST_F(SignalHubTest, OneOfTwoTargetsMissingIsPartial) {
  SignalConfig config = scraped();
  config.urls.push_back("http://127.0.0.1:1/metrics");
  open({config});
  ASSERT_TRUE(until_samples(1));
  EXPECT_EQ(samples_.front().targets_answered, 1u);
  EXPECT_EQ(samples_.front().targets_expected, 2u);
  EXPECT_EQ(figures().state, SignalState::kPartial);
  EXPECT_THAT(figures().trouble, HasSubstr("1 of 2 targets count: http://127.0.0.1:1/metrics connection refused"));
}

TEST_F(SignalHubTest, ProbesAUrl) {
  open({{.name = "probe",
         .kind = SignalKind::kHttpProbe,
         .urls = {url("/probe")},
         .every = 250ms,
         .timeout = 200ms,
         .latency_ceiling = 400ms}});
  ASSERT_TRUE(until_samples(1));
  EXPECT_GE(samples_[0].completions, 1);
  EXPECT_EQ(samples_[0].good, samples_[0].completions);
  EXPECT_LT(*samples_[0].p99_s, 0.2);
  EXPECT_FALSE(hub_->specs().at(0).counts_events);
  probe_status_ = 500;
  const std::size_t before = samples_.size();
  ASSERT_TRUE(until_samples(before + 2));
  EXPECT_EQ(samples_.back().good, 0);
  EXPECT_EQ(figures().trouble, "answers 500");
  EXPECT_EQ(figures().state, SignalState::kOver);
}

TEST_F(SignalHubTest, AProbeThatNobodyAnswersIsNoSample) {
  open({{.name = "probe",
         .kind = SignalKind::kHttpProbe,
         .urls = {"http://127.0.0.1:1/"},
         .every = 100ms,
         .timeout = 100ms,
         .latency_ceiling = 400ms}});
  ASSERT_TRUE(until([&] { return figures().trouble == "connection refused"; }));
  EXPECT_TRUE(hub_->take().empty());
}

TEST_F(SignalHubTest, TakesWhatIsPushed) {
  open({scraped(),
        {.name = "pushed", .kind = SignalKind::kPush, .latency_ceiling = 400ms, .error_ceiling = config::Ratio{0.02}}});
  const auto told = hub_->observe(R"([{"name":"pushed","latency_ms":100,"count":99},
                                      {"name":"pushed","latency_ms":900,"ok":false}])");
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(*told, 100u);
  ASSERT_TRUE(until([&] {
    for (auto& sample : hub_->take()) {
      if (sample.signal == 1) samples_.push_back(std::move(sample));
    }
    return !samples_.empty();
  }));
  EXPECT_EQ(samples_[0].completions, 100);
  EXPECT_EQ(samples_[0].good, 99);
  EXPECT_NEAR(*samples_[0].mean_s, 0.108, 1e-9);
  EXPECT_EQ(figures(1).state, SignalState::kOk);
}

TEST_F(SignalHubTest, RefusesObservationsOfNobodyAndKeepsNothingOfThem) {
  open({{.name = "bank", .kind = SignalKind::kPush, .latency_ceiling = 400ms}});
  const auto told = hub_->observe(R"([{"name":"bank","latency_ms":1},{"name":"bnak","latency_ms":1}])");
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().error_class, base::ErrorClass::kRejected);
  EXPECT_EQ(told.error().message, "observation 2: no signal of kind push is called \"bnak\", did you mean bank?");
  ASSERT_TRUE(until([&] { return figures().trouble == "nothing was pushed for 1 s"; })) << figures().trouble;
  EXPECT_TRUE(hub_->take().empty());
}

TEST_F(SignalHubTest, TheRelayFeedsItsOwn) {
  open({{.name = "broker", .kind = SignalKind::kRelay, .latency_ceiling = 1s}});
  const std::vector<double> bounds{0.01, 0.1};
  std::vector<std::uint64_t> counts{0, 0, 0};
  const base::Instant now = runtime::Loop::now();
  hub_->publish(now - 1s, {.bounds_s = bounds, .counts = counts});
  counts[0] = 10;
  hub_->publish(now, {.bounds_s = bounds, .counts = counts, .sum_s = 0.05});
  const auto samples = hub_->take();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].completions, 10);
}

TEST_F(SignalHubTest, WhatNobodyTakesIsBounded) {
  open({{.name = "broker", .kind = SignalKind::kRelay, .latency_ceiling = 1s}});
  const std::vector<double> bounds{0.01};
  std::vector<std::uint64_t> counts{0, 0};
  for (int second = 0; second < 200; ++second) {
    ++counts[0];
    hub_->publish(base::Instant(std::chrono::seconds(second)), {.bounds_s = bounds, .counts = counts});
  }
  const auto samples = hub_->take();
  ASSERT_EQ(samples.size(), 64u);
  EXPECT_EQ(samples.back().covers_until, base::Instant(199s));
}

TEST_F(SignalHubTest, ALagOfNobodyIsSaidAndABrokerThatIsAwayToo) {
  kafka::MockCluster cluster;
  open({{.name = "lag",
         .kind = SignalKind::kKafkaLag,
         .every = 100ms,
         .timeout = 100ms,
         .group = "nobody",
         .ceiling = 2s}},
       {{"bootstrap.servers", cluster.bootstrap()}});
  ASSERT_TRUE(until([&] { return figures().trouble.starts_with("the group has committed nothing"); }))
      << figures().trouble;
  cluster.set_reachable(false);
  ASSERT_TRUE(until([&] { return !figures().trouble.starts_with("the group"); }));
  EXPECT_TRUE(hub_->take().empty());
  EXPECT_EQ(figures().ceiling_s, 2);
}

TEST_F(SignalHubTest, RefusesWhatCannotWorkByTheSignalsName) {
  SignalConfig config = scraped();
  config.urls = {"ftp://bank/metrics"};
  const auto hub = SignalHub::open(loop_, {config}, {});
  ASSERT_FALSE(hub);
  EXPECT_EQ(hub.error().error_class, base::ErrorClass::kMisconfigured);
  EXPECT_THAT(hub.error().message, HasSubstr("signals[0] bank: ftp://bank/metrics: expected http://"));
}

TEST_F(SignalHubTest, TrustsHttpsTargetsByTheFileOfTheSignal) {
  for (const SignalKind kind : {SignalKind::kPrometheus, SignalKind::kHttpProbe}) {
    SignalConfig config = scraped();
    config.kind = kind;
    config.urls = {"https://bank/metrics"};
    config.ca = "/nowhere/ca.pem";
    const auto hub = SignalHub::open(loop_, {config}, {});
    ASSERT_FALSE(hub);
    EXPECT_EQ(hub.error().message, "signals[0] bank: /nowhere/ca.pem: No such file or directory");
  }
}

TEST_F(SignalHubTest, IsReplacedWithQuestionsUnderWay) {
  open({scraped()});
  loop_.context().run_one_for(50ms);
  open({scraped()});
  ASSERT_TRUE(until_samples(1));
}

}  // namespace
}  // namespace spillway::signals
