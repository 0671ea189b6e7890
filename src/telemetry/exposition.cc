#include "telemetry/exposition.h"

#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <cmath>
#include <sstream>
#include <string_view>

namespace spillway::telemetry {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string float_number(double value) {
  std::string text = number(value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string labels(const prometheus::ClientMetric& metric, const std::string& extra = {}) {
  std::string text;
  for (const auto& label : metric.label) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", label.name, escaped(label.value));
  }
  if (!extra.empty()) text += (text.empty() ? "" : ",") + extra;
  return text.empty() ? text : "{" + text + "}";
}

void put_histogram(std::string& out, const std::string& name, const prometheus::ClientMetric& metric) {
  const auto& histogram = metric.histogram;
  for (const auto& bucket : histogram.bucket) {
    out += fmt::format("{}_bucket{} {}\n", name, labels(metric, "le=\"" + float_number(bucket.upper_bound) + "\""),
                       bucket.cumulative_count);
  }
  out += fmt::format("{}_count{} {}\n", name, labels(metric), histogram.sample_count);
  out += fmt::format("{}_sum{} {}\n", name, labels(metric), number(histogram.sample_sum));
}

}  // namespace

std::string plain_text(const std::vector<prometheus::MetricFamily>& families) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

std::string open_metrics(const std::vector<prometheus::MetricFamily>& families) {
  std::string out;
  for (const auto& family : families) {
    std::string name = family.name;
    const bool counter = family.type == prometheus::MetricType::Counter;
    const bool histogram = family.type == prometheus::MetricType::Histogram;
    if (counter && name.ends_with("_total")) name.resize(name.size() - std::string_view("_total").size());
    out += fmt::format("# TYPE {} {}\n# HELP {} {}\n", name,
                       counter     ? "counter"
                       : histogram ? "histogram"
                                   : "gauge",
                       name, escaped(family.help));
    for (const auto& metric : family.metric) {
      if (histogram) {
        put_histogram(out, name, metric);
      } else {
        out += fmt::format("{}{}{} {}\n", name, counter ? "_total" : "", labels(metric),
                           number(counter ? metric.counter.value : metric.gauge.value));
      }
    }
  }
  return out + "# EOF\n";
}

}  // namespace spillway::telemetry
