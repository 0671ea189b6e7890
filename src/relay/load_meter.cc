#include "relay/load_meter.h"

#include <algorithm>

namespace spillway::relay {
namespace {

constexpr double kFirstS = 1;  // over which the first rate is a plain average
// Live rows are read as they come where they have been within this time; the slowest poll is 50 ms.
constexpr base::Duration kPrompt = std::chrono::milliseconds(500);

}  // namespace

governor::TickInputs LoadMeter::observe(const Relay& relay, base::Instant now) {
  const RelayCounters& counters = relay.counters();
  const auto behind = relay.behind(now);
  const bool caught_up = behind && *behind <= kPrompt && relay.live_unplaced() == 0;
  governor::TickInputs in;
  if (at_) {
    const double seconds = std::max(1e-3, base::seconds(base::elapsed(*at_, now)));
    if (caught_up && was_caught_up_) measure(static_cast<double>(counters.arrived_live - arrived_), seconds);
    in.sent_events = static_cast<double>(counters.sent - sent_);
    sending_ = in.sent_events / seconds;
  }
  in.live_rate = rate_.value();
  held_live_ = static_cast<double>(relay.live_unplaced());
  if (!caught_up && behind) held_live_ = std::max(held_live_, rate_.value() * base::seconds(*behind));
  in.held_live = held_live_;
  in.backlog_waiting = !relay.lanes().backlog().empty();
  at_ = now;
  arrived_ = counters.arrived_live;
  sent_ = counters.sent;
  was_caught_up_ = caught_up;
  return in;
}

// A moving average that starts at nothing would say too little for seconds.
void LoadMeter::measure(double arrivals, double seconds) {
  if (first_s_ >= kFirstS) {
    rate_.add(arrivals, seconds);
    return;
  }
  first_arrivals_ += arrivals;
  first_s_ += seconds;
  rate_ = governor::LiveRate(first_arrivals_ / first_s_);
}

}  // namespace spillway::relay
