#include "config/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace spillway::config {
namespace {

using namespace std::chrono_literals;

TEST(Quantity, DurationsCarryTheirUnit) {
  EXPECT_EQ(*parse_duration("2us"), 2us);
  EXPECT_EQ(*parse_duration("250ms"), 250ms);
  EXPECT_EQ(*parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(*parse_duration("30m"), 30min);
  EXPECT_EQ(*parse_duration("7d"), 168h);
  for (const char* text :
       {"", "5", "s", "-5s", "5 s", "5S", "05s", "1e3s", "5s ", "1_0s", ".5s", "5.s", "1:30", "99999999d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
  EXPECT_EQ(parse_duration("1:30").error().remedy, "for minutes and seconds write 90s");
  EXPECT_EQ(parse_duration("5 S").error().remedy, "write 5s");
}

TEST(Quantity, SizesCarryABinaryUnit) {
  EXPECT_EQ(parse_bytes("512B")->count, 512U);
  EXPECT_EQ(parse_bytes("16MiB")->count, 16U << 20);
  EXPECT_EQ(parse_bytes("0.5KiB")->count, 512U);
  for (const char* text : {"", "512", "1MB", "1.5B", "16 MiB", "-1B"}) EXPECT_FALSE(parse_bytes(text)) << text;
  EXPECT_EQ(parse_bytes("1MB").error().remedy, "write 1MiB");
  EXPECT_EQ(parse_bytes("64kib").error().remedy, "write 64KiB");
}

TEST(Quantity, SharesCarryAPercentSign) {
  EXPECT_DOUBLE_EQ(parse_ratio("2%")->value, 0.02);
  EXPECT_EQ(parse_ratio("0.02").error().remedy, "write 2% for that share");
  EXPECT_EQ(parse_ratio("2").error().remedy, "write 2%");
  EXPECT_FALSE(parse_ratio("%"));
}

TEST(Quantity, NumbersAreDecimalAndPlain) {
  EXPECT_EQ(*parse_count("20000"), 20000);
  for (const char* text : {"0777", "1_000", "0x10", "1e3", "1.5", "+1", "-1", "", "99999999999999999999"}) {
    EXPECT_FALSE(parse_count(text)) << text;
  }
  for (const char* text : {".inf", ".nan", "inf", "nan", "1.", "1.2.3"}) EXPECT_FALSE(parse_number(text)) << text;
}

TEST(Quantity, ListenAddressesNameHostAndPort) {
  EXPECT_EQ(*parse_listen("[::1]:0"), (ListenAddress{"::1", 0}));
  for (const char* text : {"8787", ":8787", "::1:8787", "h:", "h:65536", "h:x", "http://h:1", "[]:1"}) {
    EXPECT_FALSE(parse_listen(text)) << text;
  }
  EXPECT_TRUE(is_loopback({"127.8.0.1", 1}));
  EXPECT_FALSE(is_loopback({"127.example.com.evil", 1}));
  EXPECT_FALSE(is_loopback({"0.0.0.0", 1}));
}

TEST(Quantity, WhatIsWrittenReadsBack) {
  EXPECT_TRUE(rc::check([] {
    const auto micros = *rc::gen::inRange<std::int64_t>(0, 100'000'000'000);
    const base::Duration duration = std::chrono::microseconds(micros);
    RC_ASSERT(*parse_duration(format_duration(duration)) == duration);
    const Bytes bytes{*rc::gen::inRange<std::uint64_t>(0, 1ULL << 50)};
    RC_ASSERT(*parse_bytes(format_bytes(bytes)) == bytes);
    const Ratio ratio = *parse_ratio(std::to_string(*rc::gen::inRange(0, 1000)) + ".25%");
    RC_ASSERT(*parse_ratio(format_ratio(ratio)) == ratio);
  }));
}

}  // namespace
}  // namespace spillway::config
