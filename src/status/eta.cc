#include "status/eta.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "status/words.h"

namespace spillway::status {

void NetSpread::observe(base::Instant now, double net_per_second) {
  if (!samples_.empty() && base::elapsed(samples_.back().at, now) < kSpacing) return;
  samples_.push_back({now, net_per_second});
  while (base::elapsed(samples_.front().at, now) > kWindow) samples_.pop_front();
}

std::optional<NetRange> NetSpread::range(base::Instant now) const {
  std::vector<double> nets;
  for (const Sample& sample : samples_) {
    if (base::elapsed(sample.at, now) <= kWindow) nets.push_back(sample.net);
  }
  if (nets.size() < 3) return std::nullopt;
  std::sort(nets.begin(), nets.end());
  const double last = static_cast<double>(nets.size() - 1);
  return NetRange{nets[static_cast<std::size_t>(std::lround(last * 0.1))],
                  nets[static_cast<std::size_t>(std::lround(last * 0.9))]};
}

Eta estimate_eta(const EtaInputs& in) {
  if (!in.backlog) return {.reason = "unknown: the store does not say how much waits"};
  if (*in.backlog <= 0) return {Eta::Kind::kKnown, 0, 0, 0, "nothing waits"};
  if (!in.drain || !in.arrival) return {.reason = "unknown: no rates measured yet"};

  const auto backlog = static_cast<double>(*in.backlog);
  const double net = *in.drain - *in.arrival;
  // Less than one event a minute is no movement but noise of the estimate.
  constexpr double kStill = 1.0 / 60;
  if (net <= kStill) {
    const char* trend = net < -kStill ? "growing" : "standing still";
    return {.kind = Eta::Kind::kNever,
            .reason = fmt::format("{}, never at this rate: {} leave, {} arrive", trend, rate_words(*in.drain),
                                  rate_words(*in.arrival))};
  }
  Eta eta{Eta::Kind::kKnown, backlog / net, std::nullopt, std::nullopt,
          fmt::format("{} leave, {} arrive", rate_words(*in.drain), rate_words(*in.arrival))};
  if (in.spread) {
    eta.low = backlog / std::max(in.spread->high, net);
    const double slowest = std::min(in.spread->low, net);
    if (slowest > kStill) eta.high = backlog / slowest;
  }
  return eta;
}

}  // namespace spillway::status
