// How much others send to the same downstream, going by its own counters: what it completed beyond what we sent.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "base/time.h"
#include "governor/sent_history.h"
#include "governor/signal.h"

namespace spillway::governor {

// Others are believed in only where each count of 10 s shows them for 15 s: more than 3 % of the completions and three
// standard deviations of their number, whatever the way took between nothing and the dead time. So a queue that drains,
// a ramp of our own and retries of failed calls are no others; and they are forgotten with the first count without
// them.
class ForeignTraffic {
 public:
  explicit ForeignTraffic(const std::vector<SignalSpec>& signals);

  // Each tick, with what we sent since the one before. Gives events/s; the most that any signal shows.
  double tick(base::Instant now, double sent_events, std::span<const SignalSample> samples);

 private:
  struct Window {
    double seconds;
    double completions;
  };
  struct Source {
    double dead_time_s;
    bool counts;
    base::Instant covers_until{};
    std::deque<Window> windows{};
    std::deque<double> excess{};  // events/s, newest last
    double rate = 0;
  };

  void hear(Source& source, const SignalSample& sample);
  // events/s beyond ours in the windows kept; 0 where that may be chance.
  double beyond_ours(const Source& source) const;

  std::vector<Source> sources_;
  SentHistory sent_;
  base::Instant origin_{};
  bool begun_ = false;
  double t_ = 0;  // seconds since origin_
};

}  // namespace spillway::governor
