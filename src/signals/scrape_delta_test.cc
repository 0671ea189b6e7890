#include "signals/scrape_delta.h"

#include <gtest/gtest.h>

namespace spillway::signals {
namespace {

Scrape with(double fast, double all, double sum, double errors = 0) {
  Scrape scrape;
  scrape.histogram["a"] = {.buckets = {{0.1, fast}, {kNoBound, all}}, .sum = sum};
  scrape.errors["x"] = errors;
  return scrape;
}

TEST(Difference, CountsWhatWasAdded) {
  const ScrapeDelta delta = difference(with(10, 20, 5, 1), with(13, 25, 6.5, 3));
  EXPECT_EQ(delta.completions, 5);
  EXPECT_EQ(delta.errors, 2);
  EXPECT_EQ(delta.latency_sum_s, 1.5);
  EXPECT_EQ(delta.latencies.at(0), (CumulativeCounts{{0.1, 3}, {kNoBound, 5}}));
  EXPECT_FALSE(delta.reset);
}

TEST(Difference, ATargetThatRestartedCountsFromZero) {
  const ScrapeDelta delta = difference(with(100, 200, 50, 7), with(3, 4, 0.5, 1));
  EXPECT_EQ(delta.completions, 4);
  EXPECT_EQ(delta.errors, 1);
  EXPECT_EQ(delta.latency_sum_s, 0.5);
  EXPECT_TRUE(delta.reset);
}

TEST(Difference, OneBucketThatWentBackIsARestartToo) { EXPECT_TRUE(difference(with(10, 20, 5), with(9, 25, 6)).reset); }

TEST(Difference, ANewSeriesCountsFromZeroAndOneThatWentDoesNotCount) {
  Scrape before = with(10, 20, 5);
  before.histogram["gone"] = {.buckets = {{kNoBound, 1000}}, .sum = 1};
  Scrape now = with(10, 20, 5);
  now.histogram["new"] = {.buckets = {{0.1, 2}, {kNoBound, 2}}, .sum = 0.1};
  const ScrapeDelta delta = difference(before, now);
  EXPECT_EQ(delta.completions, 2);
  EXPECT_FALSE(delta.reset);
}

TEST(Difference, WithoutASumThereIsNone) {
  Scrape before = with(0, 0, 0);
  Scrape now = with(1, 1, 1);
  now.histogram["a"].sum.reset();
  EXPECT_FALSE(difference(before, now).latency_sum_s);
}

}  // namespace
}  // namespace spillway::signals
