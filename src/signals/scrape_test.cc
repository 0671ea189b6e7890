#include "signals/scrape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <rapidcheck/gtest.h>

#include "signals/exposition_line.h"

namespace spillway::signals {
namespace {

using testing::HasSubstr;

const ScrapeNames kNames{.histogram = "call_seconds", .errors = "call_errors_total"};

constexpr std::string_view kPlain = R"(# HELP call_seconds How long calls take.
# TYPE call_seconds histogram
call_seconds_bucket{route="a",le="0.1"} 3
call_seconds_bucket{route="a",le="0.5"} 4
call_seconds_bucket{route="a",le="+Inf"} 5
call_seconds_sum{route="a"} 2.5
call_seconds_count{route="a"} 5
call_seconds_bucket{le="0.1",route="b"} 1
call_seconds_bucket{le="+Inf",route="b"} 1
call_seconds_sum{route="b"} 0.05
call_seconds_count{route="b"} 1
# TYPE call_errors_total counter
call_errors_total{code="500"} 2
call_errors_total{code="503"} 1

process_cpu_seconds_total 12.5 1700000000000
temperature{place="a \"b\" \\ \n"} NaN
)";

std::string refusal(std::string_view text) {
  const auto scrape = read_scrape(text, kNames);
  return scrape ? "taken" : scrape.error().message;
}

TEST(ReadScrape, TakesTheNamedSeriesByTheirLabels) {
  const auto scrape = read_scrape(kPlain, kNames);
  ASSERT_TRUE(scrape) << scrape.error().message;
  ASSERT_EQ(scrape->histogram.size(), 2u);
  const HistogramSeries& a = scrape->histogram.begin()->second;
  ASSERT_EQ(a.buckets.size(), 3u);
  EXPECT_EQ(a.buckets[1], (std::pair{0.5, 4.0}));
  EXPECT_EQ(a.sum, 2.5);
  EXPECT_EQ(scrape->errors.size(), 2u);
  EXPECT_EQ(missing_names(*scrape, kNames), "");
}

TEST(ReadScrape, ReadsOpenMetricsWithExemplarsAndTheEnd) {
  const auto scrape = read_scrape(
      "# TYPE call_seconds histogram\n# UNIT call_seconds seconds\n"
      "call_seconds_bucket{le=\"0.1\"} 3 # {trace_id=\"x\"} 0.05 1.5\ncall_seconds_bucket{le=\"+Inf\"} 3 1700000000.5\n"
      "call_seconds_count 3\ncall_seconds_sum 0.1\ncall_seconds_created 1.7e9\n"
      "# TYPE call_errors counter\ncall_errors_total 7\ncall_errors_created 1.7e9\n# EOF\n",
      kNames);
  ASSERT_TRUE(scrape) << scrape.error().message;
  EXPECT_EQ(scrape->errors.begin()->second, 7);
  EXPECT_EQ(scrape->errors.size(), 1u);
  EXPECT_EQ(scrape->histogram.size(), 1u);
}

TEST(ReadScrape, ReadsWhatAClientLibraryWrites) {
  prometheus::Registry registry;
  auto& latency = prometheus::BuildHistogram().Name("call_seconds").Help("with \"quotes\" and \\").Register(registry);
  const prometheus::Histogram::BucketBoundaries bounds{0.001, 0.25, 5e10};
  latency.Add({{"route", "a\nb\"c\\"}}, bounds).Observe(0.2);
  latency.Add({{"route", "d"}}, bounds).Observe(1e11);
  prometheus::BuildCounter().Name("call_errors_total").Register(registry).Add({{"code", "503"}}).Increment(3);
  const auto scrape = read_scrape(prometheus::TextSerializer().Serialize(registry.Collect()), kNames);
  ASSERT_TRUE(scrape) << scrape.error().message;
  EXPECT_EQ(missing_names(*scrape, kNames), "");
  ASSERT_EQ(scrape->histogram.size(), 2u);
  for (const auto& [labels, series] : scrape->histogram) {
    ASSERT_EQ(series.buckets.size(), 4u);
    EXPECT_EQ(series.buckets.back().second, 1);
    EXPECT_EQ(series.buckets[2].first, 5e10);
    EXPECT_TRUE(series.sum);
  }
  EXPECT_EQ(scrape->errors.begin()->second, 3);
}

TEST(ReadScrape, SaysWhatAnswersInsteadOfMetrics) {
  EXPECT_EQ(refusal("<!DOCTYPE html><html>"), "answers HTML, not metrics");
  EXPECT_EQ(refusal("{\"status\":\"UP\"}"), "answers JSON, not metrics");
  EXPECT_EQ(refusal(" \n"), "answers nothing");
  EXPECT_THAT(refusal("up 1\nnot a metric at all\n"), HasSubstr("line 2 \"not a metric at all\""));
}

TEST(ReadScrape, RefusesBucketsThatCannotBe) {
  EXPECT_THAT(refusal("call_seconds_bucket{le=\"0.1\"} -1\n"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("call_seconds_bucket{le=\"0.1\"} NaN\n"), HasSubstr("not a number"));
  EXPECT_THAT(refusal("call_seconds_bucket{le=\"fast\"} 1\n"), HasSubstr("le=\"fast\""));
  EXPECT_THAT(refusal("call_seconds_bucket 1\n"), HasSubstr("without le"));
  EXPECT_THAT(refusal("call_seconds_bucket{le=\"0.1\"} 1\n"), HasSubstr("no bucket +Inf"));
  EXPECT_THAT(refusal("call_seconds_bucket{le=\"+Inf\"} 1\ncall_seconds_bucket{le=\"+Inf\"} 1\n"), HasSubstr("twice"));
}

TEST(MissingNames, NamesWhatIsNotThere) {
  const auto said = [](std::string_view text) { return missing_names(*read_scrape(text, kNames), kNames); };
  EXPECT_EQ(said("up 1\n"), "has no histogram call_seconds");
  EXPECT_EQ(said("# TYPE call_seconds summary\ncall_seconds{quantile=\"0.99\"} 1\n"),
            "call_seconds is a summary, expected a histogram with buckets");
  EXPECT_EQ(said("call_seconds_bucket{le=\"+Inf\"} 1\n"),
            "has no counter call_errors_total: export it from the start, as 0");
  EXPECT_EQ(said("# TYPE call_seconds histogram\n# TYPE call_errors_total counter\nup 1\n"), "")
      << "declared and not used yet: zero";
  EXPECT_EQ(said("# only comments\n"), "answers no samples");
}

TEST(Scrape, TheFingerprintSeesValuesAndNotTheOrder) {
  const auto print = [](std::string_view text) { return read_scrape(text, kNames)->fingerprint; };
  EXPECT_EQ(print("a 1\nb 2\n"), print("b 2\na 1\n"));
  EXPECT_NE(print("a 1\nb 2\n"), print("a 2\nb 1\n"));
  EXPECT_EQ(print("a 1 1000\n"), print("a 1 2000\n")) << "a new timestamp alone is no movement";
}

TEST(ReadNumber, TakesWhatPrometheusWrites) {
  EXPECT_EQ(read_number("+Inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(read_number("-0.5e3"), -500);
  for (const char* text : {"", "+", "+-1", "1x", "0x1", "one"}) EXPECT_FALSE(read_number(text)) << text;
}

// Whatever comes, it ends with a value or a refusal, and what is taken makes sense.
void take_anything(const std::string& text) {
  const auto scrape = read_scrape(text, kNames);
  if (!scrape) {
    RC_ASSERT(!scrape.error().message.empty());
    return;
  }
  for (const auto& [labels, series] : scrape->histogram) {
    for (const auto& [bound, count] : series.buckets) RC_ASSERT(count >= 0 && count == count && bound == bound);
  }
  for (const auto& [labels, count] : scrape->errors) RC_ASSERT(count >= 0);
}

RC_GTEST_PROP(ReadScrapeProperty, SurvivesAnyBytes, (const std::string& text)) { take_anything(text); }

RC_GTEST_PROP(ReadScrapeProperty, SurvivesDamagedMetrics, ()) {
  std::string text(kPlain);
  const int wounds = *rc::gen::inRange(1, 6);
  for (int i = 0; i < wounds; ++i) {
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, text.size());
    const char c = *rc::gen::element('"', '\\', '{', '}', '\n', ' ', '-', '\0', '9', '#', 'e', ',');
    switch (*rc::gen::inRange(0, 3)) {
      case 0: text[at] = c; break;
      case 1: text.insert(at, 1, c); break;
      default: text.erase(at, *rc::gen::inRange<std::size_t>(1, 30)); break;
    }
    if (text.empty()) return;
  }
  take_anything(text);
}

}  // namespace
}  // namespace spillway::signals
