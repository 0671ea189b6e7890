#include "app/override_follower.h"

#include <gtest/gtest.h>

namespace spillway::app {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class FollowedOverride : public testing::Test {
 protected:
  static base::Instant at(int s) { return base::Instant{} + seconds(s); }
  static ports::Override made(std::optional<double> max, std::int64_t since) {
    return {.max_total = max, .reason = "r", .who = "ann", .since_unix_micros = since, .remaining = minutes(10)};
  }
  double total(int s) { return governor_.tick(at(s), {.live_rate = 100, .sent_events = 100}).total_rate; }
  bool follow(const std::optional<ports::Override>& limit, int s, double sending = 0) {
    return follower_.follow(limit, at(s), sending, at(s), governor_);
  }

  static governor::GovernorSpec unlimited() {
    governor::GovernorSpec spec;
    spec.law = governor::LawKind::kUnlimited;
    return spec;
  }

  governor::Governor governor_{unlimited()};
  OverrideFollower follower_;
};

TEST_F(FollowedOverride, LimitsTheGovernorUntilItIsGone) {
  EXPECT_FALSE(follow({}, 0));
  EXPECT_TRUE(follow(made(500, 1), 1));
  EXPECT_EQ(total(1), 500);
  EXPECT_FALSE(follow(made(500, 1), 2));
  EXPECT_FALSE(follower_.held_at());
  EXPECT_TRUE(follow(made(300, 2), 3)) << "another takes its place";
  EXPECT_EQ(total(3), 300);
  EXPECT_TRUE(follow({}, 4));
  EXPECT_GT(total(4), 1e9);
}

TEST_F(FollowedOverride, EndsByItselfWhereTheStoreIsAway) {
  follow(made(500, 1), 0);
  EXPECT_EQ(total(599), 500);
  EXPECT_GT(total(600), 1e9);
}

TEST_F(FollowedOverride, AHoldIsFixedWhenItIsFirstSeen) {
  total(0);
  EXPECT_TRUE(follow(made({}, 1), 1, 812));
  EXPECT_EQ(follower_.held_at(), 812);
  EXPECT_EQ(total(1), 812);
  EXPECT_FALSE(follow(made({}, 1), 2, 2000));
  EXPECT_EQ(total(2), 812) << "it stays where it was fixed";
  EXPECT_TRUE(follow(made({}, 5), 3, 2000)) << "a new hold keeps what is allowed by the one before";
  EXPECT_EQ(follower_.held_at(), 812);
  follow({}, 4);
  EXPECT_FALSE(follower_.held_at());
}

TEST_F(FollowedOverride, CountsFromWhenTheStoreSaidIt) {
  EXPECT_FALSE(follower_.follow(made(500, 1), at(0), 0, at(600), governor_)) << "an old answer: it has ended";
  EXPECT_TRUE(follower_.follow(made(500, 1), at(0), 0, at(599), governor_));
  EXPECT_EQ(total(599), 500);
  EXPECT_GT(total(600), 1e9);
}

}  // namespace
}  // namespace spillway::app
