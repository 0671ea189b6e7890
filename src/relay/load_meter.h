// What the governor has to know about the relay's own traffic, each tick.
#pragma once

#include <optional>

#include "base/time.h"
#include "governor/law.h"
#include "governor/live_rate.h"
#include "relay/relay.h"

namespace spillway::relay {

class LoadMeter {
 public:
  // Since the call before; `samples` is left empty.
  //
  // The offered rate is measured while all live rows are read as they come. Where they are not, because live is held or
  // the database is slow, what is read says nothing about what is offered, and the last rate stands.
  governor::TickInputs observe(const Relay& relay, base::Instant now);

  // events/s that left the relay, over the time between the last two calls; empty before the second.
  std::optional<double> sending() const { return sending_; }
  // Live rows that wait in the outbox: those in memory, and an estimate of those that are not read yet.
  double held_live() const { return held_live_; }

 private:
  void measure(double arrivals, double seconds);

  std::optional<base::Instant> at_;
  std::int64_t arrived_ = 0;
  std::int64_t sent_ = 0;
  bool was_caught_up_ = false;
  double first_arrivals_ = 0;  // of the first second
  double first_s_ = 0;
  governor::LiveRate rate_;
  std::optional<double> sending_;
  double held_live_ = 0;
};

}  // namespace spillway::relay
