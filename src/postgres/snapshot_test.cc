#include "postgres/snapshot.h"

#include <gtest/gtest.h>

namespace spillway::postgres {
namespace {

TEST(Snapshot, EmptyTextSeesNothing) {
  const auto snapshot = parse_snapshot("");
  ASSERT_TRUE(snapshot);
  EXPECT_FALSE(snapshot->sees(1));
  EXPECT_FALSE(snapshot->sees(3));
}

TEST(Snapshot, SeesWhatHadEndedByThen) {
  const auto snapshot = parse_snapshot("100:110:100,105");
  ASSERT_TRUE(snapshot);
  EXPECT_TRUE(snapshot->sees(99));
  EXPECT_FALSE(snapshot->sees(100));
  EXPECT_TRUE(snapshot->sees(101));
  EXPECT_FALSE(snapshot->sees(105));
  EXPECT_TRUE(snapshot->sees(109));
  EXPECT_FALSE(snapshot->sees(110));
}

TEST(Snapshot, HoldsIdsBeyond32Bits) {
  const auto snapshot = parse_snapshot("8589934592:8589934600:8589934595");
  ASSERT_TRUE(snapshot);
  EXPECT_FALSE(snapshot->sees(8589934595));
  EXPECT_TRUE(snapshot->sees(8589934594));
}

TEST(Snapshot, AnythingElseIsRefused) {
  for (const char* text : {"1", "1:2", "a:b:", "0:0:", "5:4:", "1:9:3,", "1:9:3,3", "1:9:4,3", "1:9: 3", "1:9:3'"}) {
    EXPECT_FALSE(parse_snapshot(text)) << text;
  }
}

TEST(Snapshot, FinishedBetweenAreThoseThatCommittedMeanwhile) {
  const auto from = parse_snapshot("100:110:100,105,108");
  const auto to = parse_snapshot("105:120:105,112");
  EXPECT_EQ(finished_between(*from, *to), (std::vector<std::uint64_t>{100, 108}));
}

}  // namespace
}  // namespace spillway::postgres
