// Status as JSON, with the names of the user's contract: scripts read it, and `status` reads the relay's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "status/status.h"

namespace spillway::status {

// One line, or indented by two. null = not known.
std::string to_json(const Status& status, bool indent = false);

// What to_json wrote, fields of other releases ignored. kRejected where it is something else.
base::Result<Status> from_json(std::string_view text);

// The sections `governor` and `signals` alone.
std::string governor_to_json(const Status& status);

// An override as it stands under `governor`; null = none.
std::string override_to_json(const std::optional<ports::Override>& limit);

}  // namespace spillway::status
