#include "signals/prometheus_source.h"

#include <fmt/format.h>

namespace spillway::signals {
namespace {

constexpr const char* kAccept = "text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0;q=0.5, */*;q=0.1";
constexpr std::size_t kLargestBody = 8 << 20;

TargetWindowsSpec windows_spec(const config::SignalConfig& config) {
  TargetWindowsSpec spec{.names = {.histogram = config.histogram, .errors = config.errors},
                         .targets = config.urls,
                         .every = config.every,
                         .latency_ceiling_s = {}};
  if (config.latency_ceiling) spec.latency_ceiling_s = base::seconds(*config.latency_ceiling);
  return spec;
}

base::Result<Scrape> read(const base::Result<http::GetterAnswer>& answer, const ScrapeNames& names) {
  if (!answer) return std::unexpected(answer.error());
  if (answer->status == 200) return read_scrape(answer->body, names);
  // That the metrics themselves are refused for a while says nothing about the service's own work.
  const std::string wait = answer->retry_after_s ? fmt::format(", Retry-After {} s", *answer->retry_after_s) : "";
  return base::fail(base::ErrorClass::kUnavailable, fmt::format("answers {}, not metrics{}", answer->status, wait));
}

}  // namespace

base::Result<std::unique_ptr<PrometheusSource>> PrometheusSource::open(runtime::Loop& loop,
                                                                       const config::SignalConfig& config, Emit emit) {
  std::vector<std::unique_ptr<http::Getter>> targets;
  for (const std::string& url : config.urls) {
    auto getter = http::Getter::open(loop.context(),
                                     {.url = url,
                                      .ca = config.ca,
                                      .accept = kAccept,
                                      .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(config.timeout),
                                      .body_bytes = kLargestBody});
    if (!getter) return std::unexpected(getter.error());
    targets.push_back(std::move(*getter));
  }
  return std::unique_ptr<PrometheusSource>(new PrometheusSource(loop, config, std::move(emit), std::move(targets)));
}

PrometheusSource::PrometheusSource(runtime::Loop& loop, const config::SignalConfig& config, Emit emit,
                                   std::vector<std::unique_ptr<http::Getter>> targets)
    : names_{.histogram = config.histogram, .errors = config.errors},
      windows_(windows_spec(config)),
      emit_(std::move(emit)),
      targets_(std::move(targets)),
      ticker_(loop, config.every, [this](base::Instant now) { round(now); }) {}

void PrometheusSource::round(base::Instant now) {
  // A timeout is at most `every`, so only a loop that was held up finds the round before still open.
  if (awaited_ > 0) return;
  awaited_ = targets_.size();
  windows_.begin_round(now);
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    targets_[i]->get([this, i](base::Result<http::GetterAnswer> answer) { answered(i, std::move(answer)); });
  }
}

void PrometheusSource::answered(std::size_t target, base::Result<http::GetterAnswer> answer) {
  windows_.answered(target, read(answer, names_));
  if (--awaited_ > 0) return;
  if (auto sample = windows_.end_round()) emit_(std::move(*sample));
}

}  // namespace spillway::signals
