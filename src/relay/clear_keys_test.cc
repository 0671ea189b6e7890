#include "relay/clear_keys.h"

#include <gmock/gmock.h>

namespace spillway::relay {
namespace {

using testing::IsEmpty;

model::Page page(const std::vector<std::optional<std::string>>& keys) {
  model::Page made;
  for (const auto& key : keys) {
    model::Row row;
    row.seq = static_cast<std::int64_t>(made.rows.size()) + 1;
    if (key) row.aggregate_id = made.arena.copy(*key);
    made.rows.push_back(row);
  }
  return made;
}

TEST(ClearKeys, CoverAPageOfWhichEveryKeyIsKnown) {
  ClearKeys clear;
  EXPECT_FALSE(clear.cover(page({std::nullopt}))) << "nothing is known";
  clear.add("a");
  EXPECT_TRUE(clear.cover(page({"a", std::nullopt, "a"}))) << "a row without a key waits for none";
  EXPECT_FALSE(clear.cover(page({"a", "b"})));
  clear.more_backlog();
  EXPECT_FALSE(clear.cover(page({"a"})));
}

TEST(ClearKeys, AskForEachOtherKeyOnceUpToItsLastRow) {
  ClearKeys clear;
  clear.add("a");
  const auto others = clear.others(page({"a", "b", std::nullopt, "b", "a"}));
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others.front().key, "b");
  EXPECT_EQ(others.front().before, 4);
  EXPECT_THAT(clear.others(page({"a"})), IsEmpty());
}

TEST(ClearKeys, TakeNoMoreThanFitInMemory) {
  ClearKeys clear;
  for (std::size_t i = 0; i < ClearKeys::kMost; ++i) clear.add(std::to_string(i));
  clear.add("one more");
  EXPECT_FALSE(clear.cover(page({"one more"})));
  EXPECT_TRUE(clear.cover(page({"0"})));
}

}  // namespace
}  // namespace spillway::relay
