// Closes the loop: each tick it hears how downstream is, lets the governor decide, and sets the relay's pace.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "app/override_follower.h"
#include "config/config.h"
#include "governor/foreign_traffic.h"
#include "governor/governor.h"
#include "relay/load_meter.h"
#include "runtime/loop.h"
#include "runtime/relay_driver.h"
#include "signals/signal_hub.h"
#include "status/steering.h"

namespace spillway::app {

// Loop thread only; ends before the loop and the driver.
class ControlLoop {
 public:
  // One line for the log; `loud`: somebody ought to look.
  using Say = std::function<void(bool loud, const std::string& line)>;

  // kMisconfigured where a signal or a bound of the governor cannot be. Without signals the law is `unlimited`.
  static base::Result<std::unique_ptr<ControlLoop>> open(const config::Config& config, runtime::Loop& loop,
                                                         runtime::RelayDriver& driver, status::Steering& steering,
                                                         Say say);

  // The same with another configuration, in place; on failure everything stays as it was.
  base::Status reload(const config::Config& config);

  // The body of POST /api/observations.
  base::Result<std::size_t> observe(std::string_view json) { return parts_.hub->observe(json); }

 private:
  struct Parts {
    governor::GovernorSpec spec;
    std::unique_ptr<signals::SignalHub> hub;
  };

  ControlLoop(const config::Config& config, runtime::Loop& loop, runtime::RelayDriver& driver,
              status::Steering& steering, Say say, Parts parts);

  static base::Result<Parts> parts_of(const config::Config& config, runtime::Loop& loop);
  bool steers() const { return parts_.spec.law != governor::LawKind::kUnlimited; }
  void tick();
  void decide(base::Instant now);
  void say_state(const governor::Decision& decision) const;
  void publish_own_latency(base::Instant now);
  void show(base::Instant now);

  runtime::Loop& loop_;
  runtime::RelayDriver& driver_;
  status::Steering& steering_;
  Say say_;
  base::Duration tick_;
  Parts parts_;
  std::unique_ptr<governor::Governor> governor_;    // none until live traffic has been measured
  std::optional<governor::ForeignTraffic> others_;  // made with it
  std::optional<base::Instant> running_since_;
  relay::LoadMeter load_;
  OverrideFollower override_;
  base::Instant shown_at_{};
  runtime::Timer timer_;
};

}  // namespace spillway::app
