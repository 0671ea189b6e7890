// One window of one signal after validation, pooling and comparison with its base; and several of them as one.
#pragma once

#include <span>

#include "governor/signal.h"

namespace spillway::governor {

enum class PressureSource { kLatency, kErrors, kLag, kThrottled };

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

  // A queue exists beyond noise, so what is delivered may be the capacity.
  bool saturated() const;
};

// The worst of each: pressure from one, queue from another. Neither pointer is null where `readings` is not empty.
struct Combined {
  const Reading* pressure = nullptr;  // owner of the largest z
  const Reading* queue = nullptr;     // owner of the largest w
  const Reading* counts = nullptr;    // where delivered is compared with sent; null where no signal counts
};
Combined combine(std::span<const Reading* const> readings);

}  // namespace spillway::governor
