#include "relay/free_keys.h"

#include <gmock/gmock.h>

namespace spillway::relay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FreeKeys, AreReleasedOnceTheirBacklogIsKnownToBeFinished) {
  FreeKeys keys;
  keys.found({"a", "b"});
  EXPECT_THAT(keys.take_free(), IsEmpty());
  ASSERT_TRUE(keys.has_unsure());
  EXPECT_EQ(keys.take_unsure(), "b");
  keys.free("b");
  EXPECT_THAT(keys.take_free(), ElementsAre("b"));
  EXPECT_THAT(keys.take_free(), IsEmpty()) << "once";
}

TEST(FreeKeys, AreAllReleasedWithoutBacklog) {
  FreeKeys keys;
  keys.found({"a", "b"});
  keys.all_free();
  EXPECT_FALSE(keys.has_unsure());
  EXPECT_THAT(keys.take_free(), ElementsAre("a", "b"));
  keys.free("c");
  keys.found({"a"});
  keys.all_free();
  EXPECT_THAT(keys.take_free(), ElementsAre("c", "a")) << "also what was free before";
}

TEST(FreeKeys, ANewLookReplacesWhatTheLastOneFound) {
  FreeKeys keys;
  keys.found({"a", "b"});
  keys.found({"b"});
  EXPECT_EQ(keys.take_unsure(), "b");
  EXPECT_FALSE(keys.has_unsure());
}

}  // namespace
}  // namespace spillway::relay
