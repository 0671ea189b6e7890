// What a person asks of the governor, as typed on a command line or sent over HTTP.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ports/override.h"

namespace spillway::console {

struct OverrideWish {
  std::optional<double> max{};  // events/s; empty = hold
  std::string lasts{};          // "30m"; empty = 15 minutes
  std::string reason{};
  std::string who{};
};

// kRejected with what is wrong and what is expected instead.
base::Result<ports::OverrideRequest> override_request(const OverrideWish& wish);

}  // namespace spillway::console
