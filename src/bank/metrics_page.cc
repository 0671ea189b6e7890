#include "bank/metrics_page.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <cmath>
#include <sstream>

namespace spillway::bank {

std::vector<double> call_seconds_buckets() {
  constexpr double kMiddle = 0.4;
  std::vector<double> bounds;
  for (int step = -46; step <= 34; ++step) bounds.push_back(kMiddle * std::pow(1.1, step));
  return bounds;
}

struct MetricsPage::Parts {
  prometheus::Registry registry;
  prometheus::Counter& calls =
      prometheus::BuildCounter().Name("bank_calls_total").Help("Calls that came in").Register(registry).Add({});
  prometheus::Histogram& seconds = prometheus::BuildHistogram()
                                       .Name("bank_call_seconds")
                                       .Help("Time from a call's arrival to its answer, late answers included")
                                       .Register(registry)
                                       .Add({}, call_seconds_buckets());
  prometheus::Counter& errors = prometheus::BuildCounter()
                                    .Name("bank_call_errors_total")
                                    .Help("Calls that were refused or answered after their caller had given up")
                                    .Register(registry)
                                    .Add({});
};

MetricsPage::MetricsPage() : parts_(std::make_unique<Parts>()) {}
MetricsPage::~MetricsPage() = default;

void MetricsPage::arrive() { parts_->calls.Increment(); }

void MetricsPage::observe(double seconds, bool in_time) {
  parts_->seconds.Observe(seconds);
  if (!in_time) parts_->errors.Increment();
}

void MetricsPage::refuse() { parts_->errors.Increment(); }

std::string MetricsPage::text() const { return prometheus::TextSerializer().Serialize(parts_->registry.Collect()); }

std::string with_values_not_a_number(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.front() != '#') line = line.substr(0, line.rfind(' ')) + " NaN";
    out += line + '\n';
  }
  return out;
}

}  // namespace spillway::bank
