#include "governor/reading.h"

#include <algorithm>

namespace spillway::governor {

namespace {
constexpr double kLeastQueueS = 0.006;
constexpr double kShareOfStandingQueue = 0.6;
constexpr double kSignificance = 2.5;  // standard errors

double delivered_share(const Reading& r) { return r.delivered / std::max(1.0, r.sent_earlier); }
}  // namespace

double well_below_s(double latency_ceiling_s, double base_mean_s) {
  return std::max(0.5 * latency_ceiling_s, 1.5 * base_mean_s);
}

bool Reading::saturated() const {
  return queue_wait_s >= std::max(kShareOfStandingQueue * standing_queue_s, kLeastQueueS) &&
         (queue_wait_s > kSignificance * standard_error_s || lag_wait_s > 0);
}

Reading for_held_live(const Reading& reading) {
  Reading r = reading;
  r.pressure = reading.tail_free_pressure;
  r.queue_wait_s = std::max(reading.lag_wait_s, reading.queue_wait_s - reading.bearable_wait_s);
  return r;
}

Combined combine(std::span<const Reading* const> readings) {
  Combined worst;
  for (const Reading* r : readings) {
    if (!worst.pressure || r->pressure > worst.pressure->pressure) worst.pressure = r;
    if (!worst.queue || r->queue_wait_s > worst.queue->queue_wait_s) worst.queue = r;
    if (r->counts && (!worst.counts || delivered_share(*r) < delivered_share(*worst.counts))) worst.counts = r;
  }
  if (worst.queue && worst.queue->counts) worst.counts = worst.queue;
  return worst;
}

}  // namespace spillway::governor
