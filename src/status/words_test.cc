#include "status/words.h"

#include <gtest/gtest.h>

namespace spillway::status {
namespace {

TEST(Words, GroupThousands) {
  EXPECT_EQ(count_words(0), "0");
  EXPECT_EQ(count_words(999), "999");
  EXPECT_EQ(count_words(1000), "1,000");
  EXPECT_EQ(count_words(-1'234'567), "-1,234,567");
}

TEST(Words, SpansUseTheTwoLargestUnits) {
  EXPECT_EQ(span_words(-3), "0 s");
  EXPECT_EQ(span_words(0.34), "0.3 s");
  EXPECT_EQ(span_words(9.96), "10 s");
  EXPECT_EQ(span_words(59.6), "1 min");
  EXPECT_EQ(span_words(200), "3 min 20 s");
  EXPECT_EQ(span_words(7500), "2 h 5 min");
  EXPECT_EQ(span_words(86'400 * 4 + 3 * 3600 + 59), "4 d 3 h");
  EXPECT_EQ(span_words(1e300), "for ever");
}

TEST(Words, RatesKeepADigitWhereSmall) {
  EXPECT_EQ(rate_words(0), "0/s");
  EXPECT_EQ(rate_words(0.44), "0.4/s");
  EXPECT_EQ(rate_words(12'345.6), "12,346/s");
}

TEST(Words, BytesAreBinary) {
  EXPECT_EQ(bytes_words(1023), "1023 B");
  EXPECT_EQ(bytes_words(1024), "1.0 KiB");
  EXPECT_EQ(bytes_words(std::int64_t{3} << 40), "3.0 TiB");
}

TEST(Words, OneLineHoldsNoControlCharacter) { EXPECT_EQ(one_line("a\nb\033[31m\tc"), "a b [31m c"); }

}  // namespace
}  // namespace spillway::status
