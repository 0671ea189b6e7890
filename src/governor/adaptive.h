// The default law: estimate the capacity, keep a small queue standing, brake when downstream collapses. Once per window
// of 1 s it learns and decides; in between it only follows the live rate.
#pragma once

#include <vector>

#include "governor/blind.h"
#include "governor/brake.h"
#include "governor/capacity.h"
#include "governor/collapse.h"
#include "governor/headroom.h"
#include "governor/law.h"
#include "governor/sent_history.h"
#include "governor/signal_track.h"
#include "governor/throttle_bound.h"

namespace spillway::governor {

class AdaptiveLaw final : public Law {
 public:
  explicit AdaptiveLaw(GovernorSpec spec);

  Decision tick(base::Instant now, const TickInputs& in) override;

 private:
  void begin(base::Instant now, const TickInputs& in);
  void hear(base::Instant now, const TickInputs& in);
  bool window_is_due() const;
  void look_for_collapse(const TickInputs& in);
  void start_after_collapse();
  void learn_from_window();
  bool lets_held_live_out_first() const;
  void one_window(double t, const Combined& worst, bool may_rise);
  void note_healthy_capacity(const Combined& worst);
  void leave_blindness();
  const SignalTrack* stalest() const;
  Decision decide(const TickInputs& in);
  Decision holding(const TickInputs& in) const;
  Decision steering(const TickInputs& in, double total) const;
  Decision blind(const TickInputs& in, const SignalTrack& missing);
  bool overdue() const;
  void explain(Decision& d, double total) const;
  double clamp_total(double rate) const;
  double in_flight_window() const;

  GovernorSpec spec_;
  double dead_time_s_ = 1;  // the longest of all signals
  double every_s_ = 1;      // likewise
  bool begun_ = false;
  base::Instant origin_;
  double t_ = 0;
  double live_rate_ = 0;       // events/s
  bool backlog_sends_ = true;  // by the last decision
  SentHistory sent_;
  std::vector<SignalTrack> tracks_;
  std::vector<CollapseWatch> watches_;
  std::vector<bool> fresh_;    // since the last run of the law
  std::vector<bool> partial_;  // in its last sample
  CapacityEstimate capacity_{0, 0};
  Trim trim_;
  ToleranceHeadroom headroom_;
  Brake brake_;
  BlindFallback blind_;
  ThrottleBound throttle_;
  double blind_for_s_ = 0;
  double last_window_ = -1e9;
  double room_ = 0;
  double total_ = 0;
  double pressure_ = 0;
  bool seen_whole_ = true;  // every signal took part in the last window
  // What held when all signals were last seen in time, and lower bounds since: events/s for the backlog, and in total.
  double healthy_budget_ = 0;
  double healthy_total_ = 0;
  Cause window_cause_;  // what bound the rate in the last window
};

}  // namespace spillway::governor
