#include "telemetry/exposition.h"

#include <gtest/gtest.h>

#include <limits>

#include "telemetry/metrics.h"

namespace spillway::telemetry {
namespace {

std::vector<prometheus::MetricFamily> families() {
  using prometheus::MetricType;
  prometheus::ClientMetric counter;
  counter.label = {{"reason", "a\"b\\c\nd"}};
  counter.counter.value = 3;
  prometheus::ClientMetric gauge;
  gauge.gauge.value = std::numeric_limits<double>::infinity();
  prometheus::ClientMetric histogram;
  histogram.histogram = {
      .sample_count = 3, .sample_sum = 2.5, .bucket = {{1, 1.0}, {3, std::numeric_limits<double>::infinity()}}};
  return {{"x_total", "Counts.", MetricType::Counter, {counter}},
          {"y_seconds", "Lasts.", MetricType::Gauge, {gauge}},
          {"z_seconds", "Spreads.", MetricType::Histogram, {histogram}}};
}

TEST(Exposition, OpenMetricsNamesCountersWithoutTotalAndMarksTheEnd) {
  EXPECT_EQ(open_metrics(families()),
            "# TYPE x counter\n# HELP x Counts.\nx_total{reason=\"a\\\"b\\\\c\\nd\"} 3\n"
            "# TYPE y_seconds gauge\n# HELP y_seconds Lasts.\ny_seconds +Inf\n"
            "# TYPE z_seconds histogram\n# HELP z_seconds Spreads.\n"
            "z_seconds_bucket{le=\"1.0\"} 1\nz_seconds_bucket{le=\"+Inf\"} 3\nz_seconds_count 3\nz_seconds_sum 2.5\n"
            "# EOF\n");
}

TEST(Exposition, PlainTextIsTheOldFormat) {
  const std::string text = plain_text(families());
  EXPECT_NE(text.find("# TYPE x_total counter\n"), std::string::npos) << text;
  EXPECT_NE(text.find("y_seconds +Inf\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("# EOF"), std::string::npos);
}

TEST(Exposition, IsChosenByTheAcceptHeader) {
  EXPECT_EQ(choose_exposition(""), Exposition::kText);
  EXPECT_EQ(choose_exposition("*/*"), Exposition::kText);
  EXPECT_EQ(choose_exposition("application/openmetrics-text"), Exposition::kOpenMetrics);
  EXPECT_EQ(choose_exposition("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
                              "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            Exposition::kOpenMetrics);
  EXPECT_EQ(choose_exposition("text/plain, application/openmetrics-text; q=0.4"), Exposition::kText);
  EXPECT_EQ(choose_exposition("application/openmetrics-text;q=0"), Exposition::kText);
}

}  // namespace
}  // namespace spillway::telemetry
