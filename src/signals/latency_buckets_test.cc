#include "signals/latency_buckets.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace spillway::signals {
namespace {

LatencyBuckets of(const CumulativeCounts& counts) {
  LatencyBuckets buckets;
  buckets.add(counts);
  return buckets;
}

TEST(LatencyBuckets, InterpolatesWithinTheBucket) {
  const auto buckets = of({{0.1, 90}, {0.2, 100}, {kNoBound, 100}});
  EXPECT_DOUBLE_EQ(buckets.quantile(0.95)->seconds, 0.15);
  EXPECT_DOUBLE_EQ(buckets.quantile(0.45)->seconds, 0.05);
  EXPECT_FALSE(buckets.quantile(0.95)->beyond);
}

TEST(LatencyBuckets, SaysWhenTheQuantileIsBeyondTheLastBound) {
  const auto p99 = of({{0.1, 50}, {0.2, 98}, {kNoBound, 100}}).quantile(0.99);
  EXPECT_TRUE(p99->beyond);
  EXPECT_DOUBLE_EQ(p99->seconds, 0.2);
}

TEST(LatencyBuckets, NothingCountedHasNoQuantile) {
  EXPECT_FALSE(of({{0.1, 0}, {kNoBound, 0}}).quantile(0.99));
  EXPECT_FALSE(of({{kNoBound, 10}}).quantile(0.99)) << "no finite bound";
  EXPECT_FALSE(LatencyBuckets().quantile(0.99));
}

TEST(LatencyBuckets, MergesBeforeThePercentileAtTheBoundsInCommon) {
  LatencyBuckets buckets;
  buckets.add({{0.1, 100}, {0.2, 100}, {0.4, 100}, {kNoBound, 100}});
  buckets.add({{0.1, 0}, {0.3, 0}, {0.4, 100}, {kNoBound, 100}});
  EXPECT_DOUBLE_EQ(buckets.total(), 200);
  EXPECT_DOUBLE_EQ(buckets.last_bound(), 0.4);
  // 100 at most 0.1, 200 at most 0.4; the bounds 0.2 and 0.3 are only in one of the two.
  EXPECT_DOUBLE_EQ(buckets.quantile(0.75)->seconds, 0.25);
}

TEST(LatencyBuckets, WithoutABoundInCommonOnlyTheNumberIsKnown) {
  LatencyBuckets buckets;
  buckets.add({{0.1, 5}, {kNoBound, 10}});
  buckets.add({{0.2, 5}, {kNoBound, 10}});
  EXPECT_FALSE(buckets.usable());
  EXPECT_DOUBLE_EQ(buckets.total(), 20);
}

TEST(LatencyBuckets, TheRoughMeanTakesTheMiddles) {
  EXPECT_DOUBLE_EQ(*of({{0.1, 10}, {0.3, 20}, {kNoBound, 20}}).rough_mean(), 0.125);
}

RC_GTEST_PROP(LatencyBucketsProperty, AMergedQuantileLiesBetweenThoseOfItsParts, ()) {
  const auto part = [] {
    CumulativeCounts counts;
    double total = 0;
    for (const double bound : {0.01, 0.05, 0.1, 0.5, 1.0, kNoBound}) {
      total += *rc::gen::inRange(0, 50);
      counts.emplace_back(bound, total);
    }
    counts.back().second = counts[4].second + 0;  // nothing beyond the last bound
    return counts;
  };
  const CumulativeCounts a = part();
  const CumulativeCounts b = part();
  RC_PRE(a.back().second > 0 && b.back().second > 0);
  LatencyBuckets both = of(a);
  both.add(b);
  const double low = std::min(of(a).quantile(0.99)->seconds, of(b).quantile(0.99)->seconds);
  const double high = std::max(of(a).quantile(0.99)->seconds, of(b).quantile(0.99)->seconds);
  RC_ASSERT(both.quantile(0.99)->seconds >= low - 1e-12);
  RC_ASSERT(both.quantile(0.99)->seconds <= high + 1e-12);
}

}  // namespace
}  // namespace spillway::signals
