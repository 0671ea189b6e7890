// What every kind of signal is to the hub.
#pragma once

#include <functional>
#include <string>

#include "base/time.h"
#include "governor/signal.h"

namespace spillway::signals {

// Takes a finished window; the hub adds which signal it is of. Loop thread.
using Emit = std::function<void(governor::SignalSample)>;

// Loop thread only. Destruction ends all its work, within half a second.
class SignalSource {
 public:
  virtual ~SignalSource() = default;

  // Why it has no samples, or what should be known about those it has, in one line; empty: nothing.
  virtual std::string trouble(base::Instant now) const = 0;
};

}  // namespace spillway::signals
