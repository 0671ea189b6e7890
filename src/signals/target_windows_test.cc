#include "signals/target_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace spillway::signals {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
// A service of several targets whose counters a test moves.
class Service {
 public:
  explicit Service(std::size_t targets, base::Duration every = 1s, std::optional<double> ceiling = 0.4)
      : windows_({.names = {.histogram = "h", .errors = "e"},
                  .targets = names(targets),
                  .every = every,
                  .latency_ceiling_s = ceiling}),
        state_(targets) {}

  struct State {
    double fast = 1000, all = 1000, sum = 10, errors = 5;
    bool answers = true;
    bool frozen = false;
  };
  State& target(std::size_t i = 0) { return state_[i]; }
  TargetWindows& windows() { return windows_; }

  std::optional<governor::SignalSample> round(base::Duration after) {
    now_ += after;
    windows_.begin_round(now_);
    for (std::size_t i = 0; i < state_.size(); ++i) {
      if (state_[i].answers) {
        windows_.answered(i, scrape(state_[i]));
      } else {
        windows_.answered(i, base::fail(base::ErrorClass::kUnavailable, "connection refused"));
      }
    }
    return windows_.end_round();
  }

  // `count` calls, `slow` of them above 0.1 s, in every target that answers.
  void work(double count, double slow = 0, double errors = 0) {
    for (State& s : state_) {
      s.all += count;
      s.fast += count - slow;
      s.sum += 0.05 * count;
      s.errors += errors;
    }
  }

 private:
  static std::vector<std::string> names(std::size_t count) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back("t" + std::to_string(i));
    return all;
  }
  Scrape scrape(const State& s) {
    Scrape scrape;
    scrape.samples = 1;
    scrape.histogram["x"] = {.buckets = {{0.1, s.fast}, {0.5, s.all}, {kNoBound, s.all}}, .sum = s.sum};
    scrape.errors["x"] = s.errors;
    scrape.errors_declared = scrape.histogram_declared = true;
    scrape.fingerprint = s.frozen ? 1 : ++moves_;
    return scrape;
  }

  TargetWindows windows_;
  std::vector<State> state_;
  std::uint64_t moves_ = 1;
  base::Instant now_{100s};
};

TEST(TargetWindows, TheFirstAnswerOnlyOpensAWindow) {
  Service service(1);
  EXPECT_FALSE(service.round(1s));
  service.work(200, 0, 4);
  const auto sample = service.round(1s);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->completions, 200);
  EXPECT_EQ(sample->good, 196);
  EXPECT_EQ(sample->window_s, 1);
  EXPECT_EQ(sample->covers_until, base::Instant(102s));
  EXPECT_NEAR(*sample->mean_s, 0.05, 1e-9);
  EXPECT_NEAR(*sample->p99_s, 0.099, 1e-9);
  EXPECT_EQ(service.windows().trouble(), "");
}

TEST(TargetWindows, ShorterRoundsArePooledIntoOneSecond) {
  Service service(1, 250ms);
  service.round(250ms);
  for (int i = 0; i < 3; ++i) {
    service.work(50);
    EXPECT_FALSE(service.round(249ms));
  }
  service.work(50);
  const auto sample = service.round(249ms);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->completions, 200);
  EXPECT_NEAR(sample->window_s, 0.996, 1e-9);
}

TEST(TargetWindows, ALongerWindowStandsForItsSeconds) {
  Service service(1, 3s);
  service.round(3s);
  service.work(600);
  EXPECT_EQ(service.round(3s)->window_s, 3);
}

TEST(TargetWindows, AScrapeThatWasLostMakesTheWindowLonger) {
  Service service(1);
  service.round(1s);
  service.work(200);
  service.target().answers = false;
  EXPECT_FALSE(service.round(1s));
  EXPECT_EQ(service.windows().trouble(), "connection refused");
  service.work(200);
  service.target().answers = true;
  const auto sample = service.round(1s);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->window_s, 2);
  EXPECT_EQ(sample->completions, 400);
}

TEST(TargetWindows, AfterALongGapCountingStartsAnew) {
  Service service(1);
  service.round(1s);
  service.work(100'000);
  EXPECT_FALSE(service.round(6s));
  service.work(200);
  EXPECT_EQ(service.round(1s)->completions, 200);
}

TEST(TargetWindows, MergesHistogramsBeforeThePercentile) {
  Service service(2);
  service.round(1s);
  service.target(0).all += 990, service.target(0).fast += 990;
  service.target(1).all += 20;  // all slow
  const auto sample = service.round(1s);
  // 990 of 1010 took at most 0.1 s: p99 is rank 999.9, in the bucket up to 0.5 s. An average of percentiles would be
  // 0.3.
  EXPECT_NEAR(*sample->p99_s, 0.1 + 0.4 * (0.99 * 1010 - 990) / 20, 1e-9);
  EXPECT_EQ(sample->completions, 1010);
}

TEST(TargetWindows, OneOfFiveMissingIsPartialAndSaid) {
  Service service(5);
  service.round(1s);
  service.work(100);
  service.target(3).answers = false;
  const auto sample = service.round(1s);
  EXPECT_EQ(sample->targets_answered, 4u);
  EXPECT_EQ(sample->targets_expected, 5u);
  EXPECT_EQ(sample->completions, 400);
  EXPECT_EQ(service.windows().trouble(), "4 of 5 targets count: t3 connection refused");
}

TEST(TargetWindows, ATargetThatComesBackSpreadsItsGap) {
  Service service(2);
  service.round(1s);
  service.work(100);
  service.target(1).answers = false;
  service.round(1s);
  service.work(100);
  service.target(1).answers = true;
  const auto sample = service.round(1s);
  EXPECT_EQ(sample->targets_answered, 2u);
  EXPECT_EQ(sample->completions, 200) << "100 of the one, and half of 200 in two seconds of the other";
}

TEST(TargetWindows, ATargetThatRestartedCountsFromZero) {
  Service service(2);
  service.round(1s);
  service.work(100);
  service.target(1) = {.fast = 30, .all = 30, .sum = 1.5, .errors = 0};
  const auto sample = service.round(1s);
  EXPECT_EQ(sample->completions, 130);
  EXPECT_EQ(sample->targets_answered, 2u);
}

TEST(TargetWindows, CountersThatGoBackAgainAndAgainAreNoTarget) {
  Service service(1);
  service.round(1s);
  std::optional<governor::SignalSample> sample;
  for (int i = 0; i < 3; ++i) {
    service.target() = {.fast = 10, .all = 10, .sum = 1, .errors = 0};
    sample = service.round(1s);
    service.target() = {.fast = 900, .all = 900, .sum = 90, .errors = 0};
    if (i < 2) service.round(1s);
  }
  EXPECT_EQ(sample->targets_answered, 0u);
  EXPECT_FALSE(sample->source_moved) << "the governor counts it as missing";
  EXPECT_THAT(service.windows().trouble(), HasSubstr("load balancer"));
}

TEST(TargetWindows, ATargetThatDoesNotMoveDoesNotCount) {
  Service service(2);
  service.target(1).frozen = true;
  service.round(1s);
  service.target(0).all += 50, service.target(0).fast += 50;
  const auto sample = service.round(1s);
  EXPECT_EQ(sample->targets_answered, 1u);
  EXPECT_TRUE(sample->source_moved);
  EXPECT_THAT(service.windows().trouble(), HasSubstr("t1 answers, but not one of its series moves"));
  service.target(0).frozen = true;
  service.round(1s);
  EXPECT_FALSE(service.round(1s)->source_moved);
}

TEST(TargetWindows, NothingCompletedIsASampleOfZero) {
  Service service(1);
  service.round(1s);
  const auto sample = service.round(1s);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->completions, 0);
  EXPECT_TRUE(sample->source_moved);
  EXPECT_FALSE(sample->p99_s);
}

TEST(TargetWindows, BeyondTheLastBucketIsNeverTakenForHealth) {
  TargetWindows windows({.names = {.histogram = "h"}, .targets = {"t"}, .every = 1s, .latency_ceiling_s = 2.0});
  const auto scrape = [](double n, std::uint64_t mark) {
    Scrape s;
    s.samples = 1;
    s.histogram["x"] = {.buckets = {{0.5, 0}, {kNoBound, n}}, .sum = n};
    s.fingerprint = mark;
    return s;
  };
  windows.begin_round(base::Instant(1s));
  windows.answered(0, scrape(0, 1));
  windows.end_round();
  windows.begin_round(base::Instant(2s));
  windows.answered(0, scrape(100, 2));
  EXPECT_EQ(windows.end_round()->p99_s, 2.0);
  EXPECT_THAT(windows.trouble(), HasSubstr("beyond the last bucket, 0.5 s"));
}

TEST(TargetWindows, WithoutACeilingLatencyIsNotReported) {
  Service service(1, 1s, std::nullopt);
  service.round(1s);
  service.work(100, 0, 3);
  const auto sample = service.round(1s);
  EXPECT_FALSE(sample->p99_s || sample->mean_s);
  EXPECT_EQ(sample->good, 97);
}

}  // namespace
}  // namespace spillway::signals
