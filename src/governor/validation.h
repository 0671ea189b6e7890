// Decides whether a sample may be believed. One that may not counts as missing, never as healthy.
#pragma once

#include "governor/signal.h"

namespace spillway::governor {

class SampleValidator {
 public:
  explicit SampleValidator(const SignalSpec& spec) : dead_time_s_(spec.dead_time_s) {}

  // `sent_earlier`: events sent in the window that this one answers, one dead time ago.
  // `base_mean_s`: the signal's own unloaded mean, 0 where none is known yet.
  // kNone with completions == 0 means: the source lives and nothing was completed.
  Missing judge(base::Instant now, const SignalSample& sample, double sent_earlier, double base_mean_s);

 private:
  bool repeats_itself(const SignalSample& sample);

  double dead_time_s_;
  bool seen_any_ = false;
  base::Instant newest_;
  double last_completions_ = -1;
  double last_mean_s_ = -1;
  double last_p99_s_ = -1;
};

}  // namespace spillway::governor
