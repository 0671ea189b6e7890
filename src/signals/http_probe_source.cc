#include "signals/http_probe_source.h"

#include <fmt/format.h>

#include <algorithm>

namespace spillway::signals {

base::Result<std::unique_ptr<HttpProbeSource>> HttpProbeSource::open(runtime::Loop& loop,
                                                                     const config::SignalConfig& config, Emit emit) {
  auto getter = http::Getter::open(loop.context(),
                                   {.url = config.urls.empty() ? std::string() : config.urls.front(),
                                    .ca = config.ca,
                                    .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(config.timeout)});
  if (!getter) return std::unexpected(getter.error());
  return std::unique_ptr<HttpProbeSource>(new HttpProbeSource(loop, config, std::move(emit), std::move(*getter)));
}

HttpProbeSource::HttpProbeSource(runtime::Loop& loop, const config::SignalConfig& config, Emit emit,
                                 std::unique_ptr<http::Getter> getter)
    : every_(config.every),
      emit_(std::move(emit)),
      getter_(std::move(getter)),
      window_from_(runtime::Loop::now() - config.every),
      ticker_(loop, config.every, [this](base::Instant now) { probe(now); }) {}

void HttpProbeSource::probe(base::Instant now) {
  if (asking_) return;
  asking_ = true;
  asked_at_ = now;
  getter_->get([this](base::Result<http::GetterAnswer> answer) { answered(std::move(answer)); });
}

void HttpProbeSource::answered(base::Result<http::GetterAnswer> answer) {
  asking_ = false;
  trouble_.clear();
  if (!answer) {
    trouble_ = answer.error().message;
  } else {
    const bool good = answer->status >= 200 && answer->status < 300;
    if (!good) trouble_ = fmt::format("answers {}", answer->status);
    if ((answer->status == 429 || answer->status == 503) && answer->retry_after_s) {
      retry_after_s_ = std::max(retry_after_s_.value_or(0), *answer->retry_after_s);
    }
    latencies_.add(base::seconds(answer->took));
    good_ += good ? 1 : 0;
  }
  close_window_if_due(asked_at_);
}

void HttpProbeSource::close_window_if_due(base::Instant now) {
  const base::Duration window = base::elapsed(window_from_, now);
  if (window < std::chrono::seconds(1) - every_ / 10) return;
  window_from_ = now;
  if (latencies_.count() > 0) {
    emit_({.covers_until = now,
           .window_s = base::seconds(window),
           .completions = latencies_.count(),
           .good = good_,
           .mean_s = latencies_.mean_s(),
           .p99_s = latencies_.quantile_s(0.99),
           .retry_after_s = retry_after_s_});
  }
  latencies_.clear();
  good_ = 0;
  retry_after_s_.reset();
}

}  // namespace spillway::signals
