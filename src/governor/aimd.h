// The published baseline: once a second +50/s while healthy, x0.5 when p99 or errors are over their ceilings, on the
// total, starting at the live rate.
#pragma once

#include <vector>

#include "governor/law.h"
#include "governor/plain_windows.h"

namespace spillway::governor {

class AimdLaw final : public Law {
 public:
  explicit AimdLaw(GovernorSpec spec);

  Decision tick(base::Instant now, const TickInputs& in) override;

 private:
  GovernorSpec spec_;
  PlainWindows windows_;
  bool begun_ = false;
  double total_ = 0;
  Cause cause_;
  State state_ = State::kSlowStart;
};

}  // namespace spillway::governor
