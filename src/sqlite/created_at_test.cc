#include "sqlite/created_at.h"

#include <gtest/gtest.h>

namespace spillway::sqlite {
namespace {

using Kind = model::Timestamp::Kind;

TEST(CreatedAt, ReadsTheUsualFormsOfIso8601) {
  const std::int64_t noon = 1'772'366'400'000'000;  // 2026-03-01T12:00:00Z
  for (const char* text : {"2026-03-01T12:00:00Z", "2026-03-01 12:00:00", "2026-03-01 12:00", "2026-03-01T12:00:00.000",
                           "2026-03-01T13:00:00+01:00", "2026-03-01T07:00:00-0500", "2026-03-01T14:00:00+02"}) {
    EXPECT_EQ(created_at_from_text(text), model::Timestamp::at(noon)) << text;
  }
  EXPECT_EQ(created_at_from_text("2026-03-01"), model::Timestamp::at(noon - 12 * 3'600'000'000LL));
  EXPECT_EQ(created_at_from_text("1969-12-31T23:59:59.5Z"), model::Timestamp::at(-500'000));
}

TEST(CreatedAt, KeepsMicrosecondsAndCutsTheRest) {
  EXPECT_EQ(created_at_from_text("1970-01-01T00:00:00.1234567Z"), model::Timestamp::at(123'456));
}

TEST(CreatedAt, OtherTextIsNoTime) {
  for (const char* text : {"", "now", "2026", "2026-13-01", "2026-02-30", "2026-03-01T", "2026-03-01T25:00",
                           "2026-03-01T12:00:00.", "2026-03-01T12:00:00 CET", "2026-03-01x", "1772366400"}) {
    EXPECT_EQ(created_at_from_text(text).kind, Kind::kNull) << text;
  }
}

TEST(CreatedAt, MillisSaturate) {
  EXPECT_EQ(created_at_from_millis(1500), model::Timestamp::at(1'500'000));
  EXPECT_EQ(created_at_from_millis(INT64_MAX).kind, Kind::kInfinity);
  EXPECT_EQ(created_at_from_millis(INT64_MIN).kind, Kind::kMinusInfinity);
}

}  // namespace
}  // namespace spillway::sqlite
