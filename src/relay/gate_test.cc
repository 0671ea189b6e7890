#include "relay/gate.h"

#include <gtest/gtest.h>

#include "relay/start_for_test.h"

namespace spillway::relay {
namespace {

using namespace std::chrono_literals;

TEST(Gate, IsStalledAfterASecondWithoutAnAnswerInclusive) {
  Gate gate;
  gate.sent(10, kStart);
  EXPECT_FALSE(gate.stalled(kStart + 999ms));
  EXPECT_TRUE(gate.stalled(kStart + 1s));
  gate.sent(10, kStart + 1s);
  EXPECT_TRUE(gate.stalled(kStart + 1s)) << "sending is no progress";
  gate.answered(10, kStart + 1s);
  EXPECT_FALSE(gate.stalled(kStart + 1s));
  gate.answered(10, kStart + 2s);
  EXPECT_FALSE(gate.stalled(kStart + 1h)) << "nothing is out";
  EXPECT_EQ(gate.bytes(), 0u);
}

TEST(Gate, StaysClosedUntilTheRowsThatWereReadAgainAreAllPlaced) {
  Gate gate;
  EXPECT_FALSE(gate.closed());
  gate.defer({5, 0});
  EXPECT_EQ(gate.take(10).size(), 1u);
  EXPECT_TRUE(gate.closed());
  gate.again_done();
  EXPECT_FALSE(gate.closed());
}

TEST(Gate, RowsWaitInTheOrderOfSeqWhateverOrderTheyCameIn) {
  Gate gate;
  for (std::int64_t seq : {5, 2, 9, 3}) gate.defer({seq, 0});
  EXPECT_TRUE(gate.waits_before(3));
  EXPECT_FALSE(gate.waits_before(2)) << "the oldest itself waits for nobody";
  EXPECT_EQ(gate.take(2), (std::vector<Waiting>{{2, 0}, {3, 0}}));
  EXPECT_EQ(gate.deferred(), 2u);
}

TEST(Gate, ANewLifeKeepsOnlyWhatIsOut) {
  Gate gate;
  gate.sent(7, kStart);
  gate.defer({1, 0});
  gate.defer({2, 1});
  gate.take(1);
  gate.forget_waiting();
  EXPECT_FALSE(gate.closed());
  EXPECT_EQ(gate.in_flight(), 1u);
}

}  // namespace
}  // namespace spillway::relay
