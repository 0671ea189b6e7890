#include <gtest/gtest.h>

#include "breaker_probe.h"
#include "spillway/resilience/deadline_header.h"

namespace spillway::resilience {
namespace {

using std::chrono::milliseconds;

TEST(ResilienceCase, S40_TheHeaderCarriesTheEarlierOfInheritedAndOwnDeadline) {
  DeadlineReader reader;
  const Deadline inherited = reader.read("500", ms(0));
  const auto header = [&](int own) {
    return deadline_to_header(earlier(inherited, Deadline::after(ms(120), milliseconds(own))), ms(120));
  };
  EXPECT_EQ(header(1000)->view(), "380");
  EXPECT_EQ(header(200)->view(), "200");
}

TEST(DeadlineHeader, RoundsDownAndSaysNothingWithoutADeadline) {
  EXPECT_EQ(deadline_to_header(Deadline::after(ms(0), std::chrono::microseconds(1999)), ms(0))->view(), "1");
  EXPECT_EQ(deadline_to_header(Deadline::at(ms(5)), ms(9))->view(), "0");
  EXPECT_FALSE(deadline_to_header(Deadline::none(), ms(0)).has_value());
}

TEST(DeadlineHeader, ReadsDigitsOnlyAndHoldsLargeNumbersAtTheLongest) {
  DeadlineReader reader(milliseconds(60'000));
  EXPECT_TRUE(reader.read(std::nullopt, ms(0)).is_none());
  EXPECT_EQ(reader.malformed(), 0u);
  std::uint64_t malformed = 0;
  for (const char* text : {"-1", "+5", "1e3", " 7", "abc", "", "7 ", "0x10"}) {
    EXPECT_TRUE(reader.read(text, ms(0)).is_none()) << text;
    EXPECT_EQ(reader.malformed(), ++malformed) << text;
  }
  EXPECT_TRUE(reader.read("0", ms(7)).expired(ms(7)));
  EXPECT_EQ(reader.read("99999999999999999999", ms(0)), Deadline::at(ms(60'000)));
  EXPECT_EQ(reader.read("00000000000000000000000001", ms(0)), Deadline::at(ms(1)));
}

}  // namespace
}  // namespace spillway::resilience
