#include "relay/lease_keeper.h"

#include <gtest/gtest.h>

#include "relay/start_for_test.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;
using Ask = LeaseKeeper::Ask;

ports::LeaseState mine() { return {true, {{}, 7}, "here", 10s}; }
ports::LeaseState others() { return {false, {{}, 6}, "there", 4s}; }

class LeaseKeeperTest : public testing::Test {
 protected:
  LeaseKeeper keeper_{LeaseKeeper::Times{}};
};

TEST_F(LeaseKeeperTest, AsksAgainSoonWhileAnotherHoldsIt) {
  EXPECT_EQ(keeper_.next(kStart), Ask::kAcquire);
  EXPECT_FALSE(keeper_.next(kStart + 1s)) << "one question at a time";
  keeper_.acquired(others(), kStart + 1s);
  EXPECT_FALSE(keeper_.held(kStart + 1s));
  EXPECT_EQ(keeper_.other(), "there");
  EXPECT_FALSE(keeper_.next(kStart + 1s + 299ms));
  EXPECT_EQ(keeper_.next(kStart + 1s + 300ms), Ask::kAcquire);
}

TEST_F(LeaseKeeperTest, ReliesOnItFromBeforeTheQuestionWasSent) {
  keeper_.next(kStart);
  keeper_.acquired(mine(), kStart + 4s);
  EXPECT_TRUE(keeper_.held(kStart + 8999ms));
  EXPECT_FALSE(keeper_.held(kStart + 9s));
}

TEST_F(LeaseKeeperTest, AFailedRenewalNeverExtendsIt) {
  keeper_.next(kStart);
  keeper_.acquired(mine(), kStart);
  ASSERT_EQ(keeper_.next(kStart + 3s), Ask::kRenew);
  keeper_.renewed(base::fail(base::ErrorClass::kUnavailable, "gone"), kStart + 5s);
  EXPECT_TRUE(keeper_.held(kStart + 8s));
  EXPECT_FALSE(keeper_.held(kStart + 9s));
  EXPECT_EQ(keeper_.next(kStart + 9s), Ask::kAcquire) << "past the deadline it must be taken anew";
}

TEST_F(LeaseKeeperTest, ARenewalExtendsIt) {
  keeper_.next(kStart);
  keeper_.acquired(mine(), kStart);
  keeper_.next(kStart + 3s);
  keeper_.renewed({}, kStart + 4s);
  EXPECT_TRUE(keeper_.held(kStart + 11s));
  EXPECT_FALSE(keeper_.held(kStart + 12s));
}

TEST_F(LeaseKeeperTest, EndsAtOnceWhenAnotherTookIt) {
  keeper_.next(kStart);
  keeper_.acquired(mine(), kStart);
  keeper_.next(kStart + 3s);
  keeper_.renewed(base::fail(base::ErrorClass::kLostLease, "taken"), kStart + 3s);
  EXPECT_FALSE(keeper_.held(kStart + 3s));
  EXPECT_EQ(keeper_.next(kStart + 3s), Ask::kAcquire);
}

TEST_F(LeaseKeeperTest, IsLostByARefusedWriteWhateverTheRenewalThatIsOutSays) {
  keeper_.next(kStart);
  keeper_.acquired(mine(), kStart);
  keeper_.next(kStart + 3s);
  keeper_.lost(kStart + 3s);
  EXPECT_FALSE(keeper_.held(kStart + 3s));
  keeper_.renewed({}, kStart + 4s);
  EXPECT_FALSE(keeper_.held(kStart + 4s));
  EXPECT_EQ(keeper_.next(kStart + 4s), Ask::kAcquire);
}

TEST_F(LeaseKeeperTest, IsLostByASuspensionThatOutlastsIt) {
  keeper_.next(kStart);
  keeper_.acquired(mine(), kStart);
  EXPECT_FALSE(keeper_.held(kStart + 1h));
}

}  // namespace
}  // namespace spillway::relay
