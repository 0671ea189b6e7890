#include "signals/scrape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "signals/exposition_line.h"

namespace spillway::signals {
namespace {

constexpr std::string_view kTotal = "_total";

std::string_view without_total(std::string_view name) {
  return name.ends_with(kTotal) ? name.substr(0, name.size() - kTotal.size()) : name;
}

std::uint64_t mixed(std::uint64_t series, std::uint64_t value) {
  std::uint64_t both = (series ^ (value + 0x9e3779b97f4a7c15U)) * 0xff51afd7ed558ccdU;
  both ^= both >> 33;
  return both * (series | 1);
}

// Labels but le, in an order of our own: some exporters change theirs.
std::string identity(const SampleLine& line) {
  std::vector<std::string> labels;
  for (const auto& [name, value] : line.labels) {
    if (name != "le") labels.push_back(fmt::format("{}={}", name, value));
  }
  std::ranges::sort(labels);
  std::string all;
  for (const std::string& label : labels) all += label + '\x1f';
  return all;
}

class Reader {
 public:
  explicit Reader(const ScrapeNames& names)
      : names_(names), bucket_(names.histogram + "_bucket"), sum_(names.histogram + "_sum") {}

  // What is wrong with the line; empty: nothing.
  std::string take(std::string_view line) {
    if (line.starts_with('#')) {
      take_comment(line);
      return {};
    }
    const auto sample = read_sample_line(line);
    if (!sample) return "is no sample of a metric";
    ++scrape_.samples;
    // A sum, so that the order of the lines does not matter.
    scrape_.fingerprint += mixed(std::hash<std::string_view>{}(sample->series), std::hash<double>{}(sample->value));
    if (sample->name == bucket_) return take_bucket(*sample);
    if (sample->name == sum_) take_sum(*sample);
    if (!names_.errors.empty() && without_total(sample->name) == without_total(names_.errors))
      return take_errors(*sample);
    return {};
  }

  base::Result<Scrape> finish() {
    for (auto& [labels, series] : scrape_.histogram) {
      if (const auto sum = sums_.find(labels); sum != sums_.end()) series.sum = sum->second;
      std::ranges::sort(series.buckets);
      const auto twice = std::ranges::adjacent_find(series.buckets, {}, &std::pair<double, double>::first);
      if (twice != series.buckets.end()) return refuse(fmt::format("gives a bucket of {} twice", names_.histogram));
      if (series.buckets.empty() || series.buckets.back().first != kNoBound) {
        return refuse(fmt::format("histogram {} has no bucket +Inf", names_.histogram));
      }
    }
    return std::move(scrape_);
  }

  static base::Result<Scrape> refuse(std::string why) {
    return base::fail(base::ErrorClass::kRejected, std::move(why));
  }

 private:
  void take_comment(std::string_view line) {
    constexpr std::string_view kType = "# TYPE ";
    if (!line.starts_with(kType)) return;
    line.remove_prefix(kType.size());
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return;
    const std::string_view name = line.substr(0, space);
    if (name == names_.histogram) {
      scrape_.histogram_type = line.substr(space + 1);
      scrape_.histogram_declared = scrape_.histogram_type == "histogram";
    }
    if (!names_.errors.empty() && without_total(name) == without_total(names_.errors)) scrape_.errors_declared = true;
  }

  std::string take_bucket(const SampleLine& sample) {
    const auto le = std::ranges::find(sample.labels, "le", &std::pair<std::string_view, std::string>::first);
    if (le == sample.labels.end()) return "is a bucket without le";
    const auto bound = read_number(le->second);
    if (!bound || std::isnan(*bound)) return fmt::format("has le=\"{}\", expected a number", le->second.substr(0, 20));
    if (!std::isfinite(sample.value) || sample.value < 0) return "counts less than nothing, or not a number";
    scrape_.histogram[identity(sample)].buckets.emplace_back(*bound, sample.value);
    return {};
  }

  void take_sum(const SampleLine& sample) {
    if (std::isfinite(sample.value) && sample.value >= 0) sums_[identity(sample)] = sample.value;
  }

  std::string take_errors(const SampleLine& sample) {
    if (!std::isfinite(sample.value) || sample.value < 0) return "counts less than nothing, or not a number";
    scrape_.errors_declared = true;
    scrape_.errors[identity(sample)] = sample.value;
    return {};
  }

  const ScrapeNames& names_;
  std::string bucket_;
  std::string sum_;
  std::map<std::string, double> sums_;
  Scrape scrape_;
};

std::string shown(std::string_view line) {
  std::string text(line.substr(0, 40));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return line.size() > 40 ? text + "…" : text;
}

}  // namespace

base::Result<Scrape> read_scrape(std::string_view text, const ScrapeNames& names) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Reader::refuse("answers nothing");
  if (text[first] == '<') return Reader::refuse("answers HTML, not metrics");
  if (text[first] == '{' || text[first] == '[') return Reader::refuse("answers JSON, not metrics");
  Reader reader(names);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    const std::string fault = reader.take(line);
    if (!fault.empty())
      return Reader::refuse(fmt::format("answers no metrics: line {} \"{}\" {}", number, shown(line), fault));
  }
  return reader.finish();
}

std::string missing_names(const Scrape& scrape, const ScrapeNames& names) {
  if (scrape.samples == 0) return "answers no samples";
  if (scrape.histogram.empty() && !scrape.histogram_declared) {
    if (scrape.histogram_type.empty()) return fmt::format("has no histogram {}", names.histogram);
    return fmt::format("{} is a {}, expected a histogram with buckets", names.histogram, scrape.histogram_type);
  }
  if (!names.errors.empty() && !scrape.errors_declared) {
    return fmt::format("has no counter {}: export it from the start, as 0", names.errors);
  }
  return {};
}

}  // namespace spillway::signals
