// The signals as the simple laws see them: the worst window of each second, without pools or bases.
#pragma once

#include <optional>
#include <vector>

#include "governor/law.h"
#include "governor/validation.h"

namespace spillway::governor {

class PlainWindows {
 public:
  explicit PlainWindows(const std::vector<SignalSpec>& signals);

  struct Window {
    Cause worst;        // of what is over its ceiling; kHealthy where nothing is
    double mean_s = 0;  // of the signal with the largest mean ÷ ceiling
  };
  // Present once a second, and only when something completed.
  std::optional<Window> next(base::Instant now, const TickInputs& in);

 private:
  std::vector<SignalSpec> signals_;
  std::vector<SampleValidator> validators_;
  std::optional<Window> pending_;
  std::optional<base::Instant> last_;
};

}  // namespace spillway::governor
