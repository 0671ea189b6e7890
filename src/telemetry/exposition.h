// Families of metrics as the text a scrape gets. Inner header: the only one that names prometheus-cpp.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace spillway::telemetry {

// Prometheus text format 0.0.4.
std::string plain_text(const std::vector<prometheus::MetricFamily>& families);

// OpenMetrics 1.0.0, which prometheus-cpp does not write: counters lose `_total` in their family's name, numbers in
// `le` are floats, and the end is marked.
std::string open_metrics(const std::vector<prometheus::MetricFamily>& families);

}  // namespace spillway::telemetry
