#include "governor/foreign_traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spillway::governor {

namespace {

constexpr double kSpanS = 10;  // over which completions are counted; at the beginning less
constexpr double kLeastSpanS = 3;
constexpr std::size_t kLeastCounts = 2;
constexpr double kShownForS = 15;     // so long each of these counts has to show them
constexpr double kLeastShare = 0.03;  // of the completions
constexpr double kCertain = 3;        // standard deviations of a count
constexpr double kManyErrors = 0.02;  // of the completions: calls may be retries
constexpr double kOffsetStepS = 0.5;
constexpr double kGap = 1.5;  // windows; more between two samples is a hole

double seconds_of(const auto& windows) {
  return std::accumulate(windows.begin(), windows.end(), 0.0,
                         [](double sum, const auto& w) { return sum + w.seconds; });
}

}  // namespace

ForeignTraffic::ForeignTraffic(const std::vector<SignalSpec>& signals) {
  for (const SignalSpec& spec : signals)
    sources_.push_back({.dead_time_s = spec.dead_time_s, .counts = spec.counts_events});
}

double ForeignTraffic::tick(base::Instant now, double sent_events, std::span<const SignalSample> samples) {
  if (!begun_) origin_ = now;
  begun_ = true;
  t_ = base::seconds(base::elapsed(origin_, now));
  sent_.record(t_, sent_events);
  double most = 0;
  for (const SignalSample& sample : samples) {
    if (sample.signal < sources_.size() && sources_[sample.signal].counts) hear(sources_[sample.signal], sample);
  }
  for (const Source& source : sources_) most = std::max(most, source.rate);
  return most;
}

void ForeignTraffic::hear(Source& source, const SignalSample& sample) {
  const bool sound = std::isfinite(sample.completions) && sample.completions >= 0 && sample.window_s > 0 &&
                     sample.covers_until > source.covers_until;
  if (!sound) return;
  const double since = base::seconds(base::elapsed(source.covers_until, sample.covers_until));
  const bool hole = since > kGap * sample.window_s;
  const bool tells = sample.targets_answered >= sample.targets_expected && sample.source_moved &&
                     sample.completions - sample.good <= kManyErrors * sample.completions;
  source.covers_until = sample.covers_until;
  if (hole || !tells) source.windows.clear();
  if (!tells) return;
  source.windows.push_back({sample.window_s, sample.completions});
  while (source.windows.size() > 1 && seconds_of(source.windows) - source.windows.front().seconds >= kSpanS) {
    source.windows.pop_front();
  }
  const double span = seconds_of(source.windows);
  const bool ours_is_known = t_ >= span + source.dead_time_s;
  if (span < kLeastSpanS || !ours_is_known) return;
  source.excess.push_back(beyond_ours(source));
  const auto shown = static_cast<std::size_t>(std::max(2.0, std::round(kShownForS / sample.window_s)));
  if (source.excess.size() > shown) source.excess.pop_front();
  if (source.excess.size() >= kLeastCounts) source.rate = *std::min_element(source.excess.begin(), source.excess.end());
}

double ForeignTraffic::beyond_ours(const Source& source) const {
  const double span = seconds_of(source.windows);
  double completions = 0;
  for (const Window& window : source.windows) completions += window.completions;
  double ours = 0;
  for (double ago = 0; ago <= source.dead_time_s; ago += kOffsetStepS) {
    ours = std::max(ours, sent_.over(t_ - ago - span, t_ - ago, 0));
  }
  const double beyond = completions - ours;
  return beyond > std::max(kLeastShare * completions, kCertain * std::sqrt(completions)) ? beyond / span : 0;
}

}  // namespace spillway::governor
