// One window of one signal after validation, pooling and comparison with its base; and several of them as one.
#pragma once

#include <span>

#include "governor/signal.h"

namespace spillway::governor {

enum class PressureSource { kLatency, kErrors, kLag, kThrottled };

// A service is well again while its mean lies below the greater of half of the ceiling and 1.5 times its base.
double well_below_s(double latency_ceiling_s, double base_mean_s);

struct Reading {
  std::size_t signal = 0;
  double windows = 1;       // how many seconds it stands for
  bool counts = true;       // delivered and sent_earlier may be compared
  double completions = 0;   // per second
  double delivered = 0;     // mu: good completions per second
  double sent_earlier = 0;  // events/s sent in the window that this one answers
  double error_ratio = 0;   // [0, 1]
  double own_mean_s = 0;    // of this window alone
  double own_p99_s = 0;
  double pooled_p99_s = 0;
  double standard_error_s = 0;  // of the pooled mean
  double base_mean_s = 0;
  double latency_ceiling_s = 0;
  double tolerance = 0;
  double lag_wait_s = 0;        // wl: lag ÷ rate of consumption
  double queue_wait_s = 0;      // w: mean above its base, plus lag_wait_s
  double standing_queue_s = 0;  // nominal: the wait that may stand
  double pressure = 0;          // z: 1 = at the limit
  PressureSource source = PressureSource::kLatency;
  double tail_free_pressure = 0;  // z by mean, lag and errors, whatever p99 says
  double bearable_wait_s = 0;     // of the mean above its base: a third of the way to where it is no longer well

  // A queue exists beyond noise, so what is delivered may be the capacity.
  bool saturated() const;
};

// The window as it counts for live traffic that waits in the outbox: p99 does not hold it back, nor does a slowness as
// mild as its own load may bring. Those answers would be late by tenths of a second; held, they are late by minutes.
Reading for_held_live(const Reading& reading);

// The worst of each: pressure from one, queue from another. Neither pointer is null where `readings` is not empty.
struct Combined {
  const Reading* pressure = nullptr;  // owner of the largest z
  const Reading* queue = nullptr;     // owner of the largest w
  const Reading* counts = nullptr;    // where delivered is compared with sent; null where no signal counts
};
Combined combine(std::span<const Reading* const> readings);

}  // namespace spillway::governor
