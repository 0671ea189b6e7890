// One answer of a metrics endpoint, reduced to what a signal needs: Prometheus exposition text 0.0.4 or
// OpenMetrics 1.0.
//
// Debian has no library that reads these formats (prometheus-cpp only writes them), so this is a strict reader of our
// own: what is not such text is refused as a whole, with the line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "signals/latency_buckets.h"

namespace spillway::signals {

struct ScrapeNames {
  std::string histogram;  // without _bucket; its unit is the second
  std::string errors{};   // a counter, with or without _total; empty: not looked for
};

struct HistogramSeries {
  CumulativeCounts buckets;     // bounds rise; +Inf is there
  std::optional<double> sum{};  // seconds; absent where the target gives none or one that cannot be
};

struct Scrape {
  std::map<std::string, HistogramSeries> histogram;  // by the labels other than le
  std::map<std::string, double> errors;              // by the labels
  bool histogram_declared = false;                   // it has a TYPE line, series or not
  bool errors_declared = false;
  std::string histogram_type{};   // as its TYPE line says: "summary" means that it has no buckets
  std::uint64_t fingerprint = 0;  // equal where every series of the text has the same value; order does not matter
  std::size_t samples = 0;
};

// kRejected: "answers HTML, not metrics", "line 12: …".
base::Result<Scrape> read_scrape(std::string_view text, const ScrapeNames& names);

// What is wrong with it for the signal, in one line; empty: nothing. A histogram or counter that is declared and has no
// series yet counts as zero; one that is not even declared may be misspelt.
std::string missing_names(const Scrape& scrape, const ScrapeNames& names);

}  // namespace spillway::signals
