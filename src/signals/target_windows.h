// Several targets of one service, scraped in rounds, as windows of the service. No I/O: rounds and answers come in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "governor/signal.h"
#include "signals/scrape.h"

namespace spillway::signals {

struct TargetWindowsSpec {
  ScrapeNames names;
  std::vector<std::string> targets;         // what messages call them
  base::Duration every{};                   // between two rounds
  std::optional<double> latency_ceiling_s;  // empty: latencies are not judged, and not reported
};

// A window is the time between two rounds that are at least a second apart. A target counts in it when it answered now
// and has an earlier answer to compare with; what it did in a longer gap of its own is spread over that gap. The rest
// is missing: `targets_answered` says how many counted. Where all were silent the window grows, up to 5 s or three
// rounds; after a longer gap counting starts anew.
class TargetWindows {
 public:
  explicit TargetWindows(TargetWindowsSpec spec);

  void begin_round(base::Instant at);
  // Once a target and round. An error's message is the reason in a few words.
  void answered(std::size_t target, base::Result<Scrape> scrape);
  // The window that this round closes, if it closes one.
  std::optional<governor::SignalSample> end_round();

  // What keeps the signal from being whole, or should be known about it; empty: nothing.
  std::string trouble() const;

 private:
  struct Target {
    std::string trouble;         // of the last round
    std::string window_trouble;  // of the last window
    const std::string& any_trouble() const { return trouble.empty() ? window_trouble : trouble; }
    std::optional<Scrape> now;
    std::optional<Scrape> before;
    base::Instant before_at;
    std::uint32_t restarts = 0;  // one bit a window, the newest lowest
  };
  struct Sum;

  bool window_due() const;
  bool count(Target& target, double window_s, Sum& sum) const;
  std::optional<governor::SignalSample> close(double window_s);
  void judge_latency(const Sum& sum, governor::SignalSample& sample);
  void start_window();

  TargetWindowsSpec spec_;
  std::vector<Target> targets_;
  base::Instant round_at_;
  std::optional<base::Instant> window_from_;
  std::string latency_trouble_;
};

}  // namespace spillway::signals
