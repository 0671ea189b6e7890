// What the adaptive law could do if it knew the downstream: the same control with the true capacity of one dead time
// ago, the true base, and no trim. Only to compare with.
#pragma once

#include "governor/brake.h"
#include "governor/collapse.h"
#include "governor/headroom.h"
#include "governor/law.h"
#include "governor/sent_history.h"
#include "sim/scenario.h"

namespace spillway::sim {

class OracleLaw final : public governor::Law {
 public:
  // `scenario` outlives the law. Its first tick is the scenario's time 0.
  explicit OracleLaw(const Scenario& scenario);

  governor::Decision tick(base::Instant now, const governor::TickInputs& in) override;

 private:
  void learn(const governor::SignalSample& sample);
  governor::Decision held(double live_rate, double held_live) const;

  const Scenario& scenario_;
  double dead_time_s_;
  bool begun_ = false;
  base::Instant origin_;
  double t_ = 0;
  governor::SentHistory sent_;
  governor::CollapseWatch watch_;
  governor::Brake brake_;
  governor::ToleranceHeadroom headroom_;
  double total_ = 0;
  double heard_ = 0;  // when the last sample came
};

}  // namespace spillway::sim
