#include "postgres/text_array.h"

#include <gtest/gtest.h>

namespace spillway::postgres {
namespace {

TEST(TextArray, QuotesEveryElementAndTellsNullFromItsWord) {
  EXPECT_EQ(TextArray().take(), "{}");
  TextArray array;
  array.add("a,{b}");
  array.add(R"(say "c:\")");
  array.add(std::nullopt);
  array.add("NULL");
  array.add("");
  EXPECT_EQ(std::move(array).take(), R"({"a,{b}","say \"c:\\\"",NULL,"NULL",""})");
}

}  // namespace
}  // namespace spillway::postgres
