// Watches one relay from inside its process: rates, and the store's figures, fetched in the background.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "console/desk.h"
#include "runtime/relay_driver.h"
#include "status/assemble.h"
#include "status/rate_meter.h"
#include "status/steering.h"

namespace spillway::console {

struct ObserverOptions {
  status::Subject subject;
  std::string process{};  // as in the lease
  // The broker's trouble in one line; empty = none.
  std::function<std::string()> sink_error{};
  base::Duration refresh = std::chrono::seconds(2);  // between two questions to the store
};

// Loop thread only. The driver and the desk must outlive it.
class Observer {
 public:
  Observer(runtime::Loop& loop, Desk& desk, const runtime::RelayDriver& driver, ObserverOptions options);

  void start();

  status::Status now();
  // When the store last answered; empty: never.
  std::optional<double> figures_unix_s() const { return figures_unix_s_; }
  double turn_age_s() const;
  // To be told what governor, signals and lanes say, where the relay has them.
  status::Steering& steering() { return steering_; }
  status::Explanation explanation() const { return steering_.explanation(options_.subject); }

 private:
  status::LiveFigures live();
  status::StoreFigures store_figures() const;
  void tick();
  void ask_store();
  void figures_came(base::Result<ports::Figures> figures);

  Desk& desk_;
  const runtime::RelayDriver& driver_;
  ObserverOptions options_;
  std::optional<ports::Figures> figures_;
  base::Instant figures_at_{};
  base::Instant asked_at_{};
  base::Instant ticked_at_ = runtime::Loop::now();
  std::optional<double> figures_unix_s_;
  std::string store_error_ = "it was not asked yet";
  bool asking_ = false;
  status::RateMeter published_;
  status::RateMeter arrived_;
  std::optional<double> arrival_;
  status::NetSpread spread_;
  status::Steering steering_;
  runtime::Timer timer_;
};

}  // namespace spillway::console
