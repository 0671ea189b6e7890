#include "bank/inbox.h"

#include <gtest/gtest.h>

#include <vector>

namespace spillway::bank {
namespace {

TEST(Inbox, TellsARepeatedEventFromANewOne) {
  Inbox inbox;
  EXPECT_TRUE(inbox.deliver("a", "k", 1));
  EXPECT_TRUE(inbox.deliver("b", "k", 2));
  EXPECT_FALSE(inbox.deliver("a", "k", 1));
  EXPECT_EQ(inbox.unique(), 2);
  EXPECT_EQ(inbox.duplicates(), 1);
  EXPECT_EQ(inbox.inversions(), 0);
}

TEST(Inbox, CountsAFirstDeliveryAfterALaterOneOfItsKey) {
  Inbox inbox;
  inbox.deliver("a", "k", 1);
  inbox.deliver("c", "k", 3);
  inbox.deliver("b", "k", 2);
  inbox.deliver("x", "other", 1);
  inbox.deliver("d", "k", 4);
  EXPECT_EQ(inbox.inversions(), 1);
}

TEST(Inbox, CountsWhatNeverCame) {
  Inbox inbox;
  inbox.deliver("a", "k", 1);
  const std::vector<std::string> written = {"a", "b", "c"};
  EXPECT_EQ(inbox.missing(written), 2);
}

}  // namespace
}  // namespace spillway::bank
