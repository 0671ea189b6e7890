#include "app/signal_views.h"

namespace spillway::app {
namespace {

std::optional<double> milliseconds(const std::optional<double>& seconds) {
  return seconds ? std::optional(*seconds * 1e3) : std::nullopt;
}

}  // namespace

std::vector<status::SignalView> signal_views(const std::vector<signals::SignalFigures>& figures) {
  std::vector<status::SignalView> views;
  for (const signals::SignalFigures& signal : figures) {
    views.push_back({.name = signal.name,
                     .p99_ms = milliseconds(signal.p99_s),
                     .error_rate = signal.error_rate,
                     .age_s = signal.age_s,
                     .ceiling_ms = milliseconds(signal.ceiling_s),
                     .lag_ms = milliseconds(signal.lag_s),
                     .state = std::string(signals::to_string(signal.state)),
                     .trouble = signal.trouble});
  }
  return views;
}

}  // namespace spillway::app
