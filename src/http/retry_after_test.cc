#include "http/retry_after.h"

#include <gtest/gtest.h>

namespace spillway::http {
namespace {

TEST(RetryAfter, TakesSecondsUpToFiveMinutes) {
  EXPECT_EQ(retry_after_seconds("2", ""), 2);
  EXPECT_EQ(retry_after_seconds("0", ""), 0);
  EXPECT_EQ(retry_after_seconds("99999999999", ""), 300);
}

TEST(RetryAfter, ADateCountsFromTheAnswersOwnDate) {
  EXPECT_EQ(retry_after_seconds("Wed, 21 Oct 2015 07:28:10 GMT", "Wed, 21 Oct 2015 07:28:00 GMT"), 10);
  EXPECT_EQ(retry_after_seconds("Wed, 21 Oct 2015 07:28:10 GMT", "Wed, 21 Oct 2015 07:29:00 GMT"), 0);
  EXPECT_FALSE(retry_after_seconds("Wed, 21 Oct 2015 07:28:10 GMT", ""));
}

TEST(RetryAfter, AnythingElseIsNoWait) {
  for (const char* text : {"", "soon", "-1", "1s", "nan", "inf", " 1"})
    EXPECT_FALSE(retry_after_seconds(text, "")) << text;
}

}  // namespace
}  // namespace spillway::http
