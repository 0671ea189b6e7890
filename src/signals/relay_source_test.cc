#include "signals/relay_source.h"

#include <gtest/gtest.h>

#include <array>

namespace spillway::signals {
namespace {

using namespace std::chrono_literals;

class RelaySourceTest : public testing::Test {
 protected:
  void publish(base::Duration after, std::array<std::uint64_t, 3> added, double sum = 0, double throttle_s = 0) {
    now_ += after;
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += added[i];
    sum_ += sum;
    source_.publish(now_, {.bounds_s = bounds_, .counts = counts_, .sum_s = sum_, .throttle_s = throttle_s});
  }

  std::array<double, 2> bounds_{0.01, 0.1};
  std::array<std::uint64_t, 3> counts_{1000, 5, 1};
  double sum_ = 7;
  base::Instant now_{50s};
  std::vector<governor::SignalSample> samples_;
  RelaySource source_{1.0, [this](governor::SignalSample s) { samples_.push_back(std::move(s)); }};
};

TEST_F(RelaySourceTest, TellsWhatWasAcknowledgedSinceTheCallBefore) {
  publish(0s, {});
  EXPECT_TRUE(samples_.empty());
  publish(1s, {90, 10, 0}, 1.5);
  ASSERT_EQ(samples_.size(), 1u);
  EXPECT_EQ(samples_[0].completions, 100);
  EXPECT_EQ(samples_[0].good, 100);
  EXPECT_NEAR(*samples_[0].mean_s, 0.015, 1e-12);
  EXPECT_NEAR(*samples_[0].p99_s, 0.091, 1e-12);
  EXPECT_EQ(source_.trouble(now_), "");
}

TEST_F(RelaySourceTest, CallsThatComeMoreOftenArePooled) {
  publish(0s, {});
  publish(500ms, {50, 0, 0}, 0, 0.2);
  EXPECT_TRUE(samples_.empty());
  publish(500ms, {50, 0, 0});
  ASSERT_EQ(samples_.size(), 1u);
  EXPECT_EQ(samples_[0].completions, 100);
  EXPECT_EQ(samples_[0].retry_after_s, 0.2) << "the longest throttle of the window";
}

TEST_F(RelaySourceTest, BeyondTheLastBucketIsAtLeastTheCeiling) {
  publish(0s, {});
  publish(1s, {0, 0, 100}, 500);
  EXPECT_EQ(samples_.at(0).p99_s, 1.0);
}

TEST_F(RelaySourceTest, NothingAcknowledgedIsASampleOfZero) {
  publish(0s, {});
  publish(1s, {});
  ASSERT_EQ(samples_.size(), 1u);
  EXPECT_EQ(samples_[0].completions, 0);
  EXPECT_FALSE(samples_[0].p99_s);
}

TEST_F(RelaySourceTest, AfterARestartOrALongGapCountingStartsAnew) {
  publish(0s, {});
  counts_ = {0, 0, 0};
  publish(1s, {5, 0, 0});
  publish(6s, {5, 0, 0});
  EXPECT_TRUE(samples_.empty());
  EXPECT_FALSE(source_.trouble(now_ + 6s).empty());
}

}  // namespace
}  // namespace spillway::signals
