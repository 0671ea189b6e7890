#include "bank/metrics_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace spillway::bank {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricsPage, CountsLateAnswersAsErrorsAndAsLatencies) {
  MetricsPage page;
  page.observe(0.1, true);
  page.observe(3, false);
  page.refuse();
  const std::string text = page.text();
  EXPECT_THAT(text, HasSubstr("# TYPE bank_call_seconds histogram"));
  EXPECT_THAT(text, HasSubstr("bank_call_seconds_count 2\n"));
  EXPECT_THAT(text, HasSubstr("bank_call_seconds_bucket{le=\"+Inf\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("bank_call_errors_total 2\n"));
}

TEST(MetricsPage, HasTheCeilingAmongItsBuckets) {
  const auto bounds = call_seconds_buckets();
  EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
  EXPECT_NE(std::find(bounds.begin(), bounds.end(), 0.4), bounds.end());
  EXPECT_NEAR(bounds.front(), 0.005, 0.0001);
  EXPECT_GE(bounds.back(), 10);
}

TEST(MetricsPage, KeepsNamesAndLosesValuesWhereTheyAreNotANumber) {
  MetricsPage page;
  page.observe(0.1, true);
  const std::string text = with_values_not_a_number(page.text());
  EXPECT_THAT(text, HasSubstr("bank_call_seconds_bucket{le=\"+Inf\"} NaN\n"));
  EXPECT_THAT(text, HasSubstr("bank_call_errors_total NaN\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE bank_call_seconds histogram\n"));
  EXPECT_THAT(text, Not(HasSubstr("_count 1")));
}

}  // namespace
}  // namespace spillway::bank
