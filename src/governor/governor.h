// The governor as daemon and simulator hold it: a law, a person's override, and observing.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "governor/law.h"
#include "governor/override.h"

namespace spillway::governor {

// A decision's rates are ours; only its capacity includes the traffic of others on the same downstream.
//
// Single-threaded; reads no clock. tick() is meant to be called every 250 ms with everything that happened since.
class Governor {
 public:
  // `spec` has passed check().
  explicit Governor(const GovernorSpec& spec);
  // With a law of the caller's own (the simulator's oracle).
  Governor(const GovernorSpec& spec, std::unique_ptr<Law> law);

  const Decision& tick(base::Instant now, const TickInputs& in);
  const Decision& last() const { return last_; }

  void set_override(Override limit) { override_.set(std::move(limit)); }
  void clear_override() { override_.clear(); }
  // Nothing above the present total until the override ends.
  base::Status hold(base::Instant now, base::Duration lasts, std::string reason);
  std::optional<Override> active_override(base::Instant now) { return override_.at(now); }

 private:
  Decision decide(base::Instant now, const TickInputs& in);
  void apply_observing(Decision& d) const;
  void apply_override(base::Instant now, Decision& d);

  GovernorSpec spec_;
  std::unique_ptr<Law> law_;
  OverrideSlot override_;
  std::optional<base::Instant> last_tick_;
  Decision last_;
};

}  // namespace spillway::governor
