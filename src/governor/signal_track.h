// Everything the governor remembers about one signal.
#pragma once

#include <optional>

#include "governor/base_shift.h"
#include "governor/baseline.h"
#include "governor/error_cause.h"
#include "governor/reading.h"
#include "governor/sent_history.h"
#include "governor/signal.h"
#include "governor/signal_pool.h"
#include "governor/validation.h"

namespace spillway::governor {

class SignalTrack {
 public:
  explicit SignalTrack(SignalSpec spec);

  struct Verdict {
    Missing missing = Missing::kNone;
    bool partial = false;            // some targets did not answer: it may lower the rate, never raise it
    bool zero = false;               // nothing was completed of what was sent
    double sent_earlier = 0;         // events/s
    std::optional<Reading> reading;  // present unless missing or zero
  };

  struct Context {
    base::Instant now;
    double t = 0;         // the same moment in seconds on the history's axis
    double capacity = 0;  // events/s, stands in where the history does not reach
    bool learn = true;    // base values may be learnt (not while blind or braking)
  };
  Verdict take(const SignalSample& sample, const SentHistory& sent, const Context& context);

  // The last reading, until the signal is stale.
  const std::optional<Reading>& last() const { return last_; }
  double last_fresh() const { return last_fresh_; }  // seconds; 0 before the first
  Missing last_missing() const { return last_missing_; }
  bool current(double t) const;  // its sample is not overdue
  bool stale(double t) const;    // newest believable sample older than dead time + 2 s

  bool errors_independent() const { return errors_.independent_of_load(); }
  const SignalSpec& spec() const { return spec_; }
  const Baseline& baseline() const { return base_; }

  // Starts again after a collapse: pooled windows go; base values come from probes that ran without a queue, if any.
  void restart_after_collapse(double t, std::optional<double> mean_s, std::optional<double> p99_s);

 private:
  Reading measure(const SignalSample& sample, double sent_earlier, const Context& context);
  void measure_latency(const SignalSample& sample, const Context& context, Reading& r);
  void add_pressure(const SignalSample& sample, double span_s, const Context& context, Reading& r);
  void watch_base(const Reading& r, const SignalPool::Summary& pool, const Context& context);

  SignalSpec spec_;
  SampleValidator validator_;
  SignalPool pool_;
  std::optional<SignalPool::Summary> pooled_;
  Baseline base_;
  ErrorCause errors_;
  BaseShift shift_;
  double relearn_until_ = -1;
  double relearn_mean_s_ = 0;
  double relearn_p99_s_ = 0;
  std::optional<Reading> last_;
  double last_fresh_ = 0;
  Missing last_missing_ = Missing::kNone;
};

}  // namespace spillway::governor
