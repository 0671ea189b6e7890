#include "model/timestamp.h"

#include <gtest/gtest.h>

namespace spillway::model {
namespace {

constexpr std::int64_t kNow = 1'790'000'000'000'000;  // September 2026

TEST(RecordTime, IsTheRowsOwnInMilliseconds) {
  const auto time = record_time(Timestamp::at(kNow - 1'234'567), kNow);
  EXPECT_EQ(time.unix_millis, (kNow - 1'234'567) / 1000);
  EXPECT_FALSE(time.replaced);
}

TEST(RecordTime, AllowsAMinuteAheadOfTheDatabaseAndNoMore) {
  EXPECT_FALSE(record_time(Timestamp::at(kNow + 60'000'000), kNow).replaced);
  EXPECT_TRUE(record_time(Timestamp::at(kNow + 60'000'001), kNow).replaced);
}

TEST(RecordTime, IsTheDatabasesClockWhereTheRowHasNoUsableTime) {
  using Kind = Timestamp::Kind;
  for (const Timestamp created_at :
       {Timestamp{Kind::kNull, 0}, Timestamp{Kind::kInfinity, 0}, Timestamp{Kind::kMinusInfinity, 0}, Timestamp::at(-1),
        Timestamp::at(253'402'300'799'000'000)}) {
    const auto time = record_time(created_at, kNow);
    EXPECT_EQ(time.unix_millis, kNow / 1000) << to_string(created_at);
    EXPECT_TRUE(time.replaced) << to_string(created_at);
  }
}

TEST(Timestamp, PrintsAsIso8601) {
  EXPECT_EQ(to_string(Timestamp::at(0)), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(to_string(Timestamp::at(-1)), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(to_string(Timestamp::at(253'402'300'799'999'999)), "9999-12-31T23:59:59.999999Z");
}

}  // namespace
}  // namespace spillway::model
