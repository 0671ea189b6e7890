#include "status/eta.h"

#include <gtest/gtest.h>

namespace spillway::status {
namespace {

using namespace std::chrono_literals;

TEST(Eta, IsBacklogOverDrainMinusArrival) {
  const Eta eta = estimate_eta({.backlog = 100'000, .drain = 3000, .arrival = 1000, .spread = {}});
  EXPECT_EQ(eta.kind, Eta::Kind::kKnown);
  EXPECT_DOUBLE_EQ(*eta.seconds, 50);
  EXPECT_FALSE(eta.low);
}

TEST(Eta, CarriesTheRangeOfTheLastMinutes) {
  const Eta eta = estimate_eta({.backlog = 100'000, .drain = 3000, .arrival = 1000, .spread = NetRange{1000, 4000}});
  EXPECT_DOUBLE_EQ(*eta.low, 25);
  EXPECT_DOUBLE_EQ(*eta.high, 100);
}

TEST(Eta, HasNoUpperEndWhereTheWorstMinutesGainedNothing) {
  const Eta eta = estimate_eta({.backlog = 100, .drain = 20, .arrival = 10, .spread = NetRange{-5, 12}});
  EXPECT_TRUE(eta.low);
  EXPECT_FALSE(eta.high);
}

TEST(Eta, TheRangeHoldsTheEstimate) {
  const Eta eta = estimate_eta({.backlog = 100, .drain = 110, .arrival = 10, .spread = NetRange{10, 20}});
  EXPECT_DOUBLE_EQ(*eta.seconds, 1);
  EXPECT_DOUBLE_EQ(*eta.low, 1);
  EXPECT_DOUBLE_EQ(*eta.high, 10);
}

TEST(Eta, SaysNeverWhereMoreArrivesThanLeaves) {
  const Eta eta = estimate_eta({.backlog = 10, .drain = 100, .arrival = 200, .spread = {}});
  EXPECT_EQ(eta.kind, Eta::Kind::kNever);
  EXPECT_FALSE(eta.seconds);
  EXPECT_EQ(eta.reason, "growing, never at this rate: 100/s leave, 200/s arrive");
}

TEST(Eta, SaysNeverWhereNothingMoves) {
  const Eta eta = estimate_eta({.backlog = 10, .drain = 0, .arrival = 0, .spread = {}});
  EXPECT_EQ(eta.kind, Eta::Kind::kNever);
  EXPECT_TRUE(eta.reason.starts_with("standing still, never at this rate")) << eta.reason;
}

TEST(Eta, UnknownIsItsOwnAnswer) {
  EXPECT_EQ(estimate_eta({.backlog = {}, .drain = 1, .arrival = 0, .spread = {}}).kind, Eta::Kind::kUnknown);
  EXPECT_EQ(estimate_eta({.backlog = 5, .drain = {}, .arrival = 0, .spread = {}}).kind, Eta::Kind::kUnknown);
  EXPECT_EQ(estimate_eta({.backlog = 5, .drain = 5, .arrival = {}, .spread = {}}).kind, Eta::Kind::kUnknown);
}

TEST(Eta, IsZeroForAnEmptyBacklogWhateverTheRates) {
  const Eta eta = estimate_eta({.backlog = 0, .drain = {}, .arrival = {}, .spread = {}});
  EXPECT_EQ(eta.kind, Eta::Kind::kKnown);
  EXPECT_EQ(eta.seconds, 0);
}

TEST(NetSpread, GivesTenthAndNinetiethPercentileOfFiveMinutes) {
  NetSpread spread;
  const base::Instant start{};
  for (int i = 0; i <= 60; ++i) spread.observe(start + i * 5s, i);
  const NetRange all = *spread.range(start + 300s);
  EXPECT_EQ(all.low, 6);
  EXPECT_EQ(all.high, 54);
}

TEST(NetSpread, ForgetsWhatIsOlder) {
  NetSpread spread;
  const base::Instant start{};
  for (int i = 0; i < 3; ++i) spread.observe(start + i * 5s, 1000);
  EXPECT_TRUE(spread.range(start + 10s));
  EXPECT_FALSE(spread.range(start + 400s));
}

TEST(NetSpread, TakesOneSampleInFiveSeconds) {
  NetSpread spread;
  for (int i = 0; i < 100; ++i) spread.observe(base::Instant{} + i * 10ms, i);
  EXPECT_FALSE(spread.range(base::Instant{} + 1s));
}

}  // namespace
}  // namespace spillway::status
