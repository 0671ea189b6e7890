// The one line of cause that heads every status.
#pragma once

#include <string>

#include "status/status.h"

namespace spillway::status {

// Why an outbox without `signals:` runs unlimited. The start-up log says the same.
inline constexpr const char* kNoSignals =
    "no signals configured: nothing to steer by, so rows go as fast as the broker takes them";

// In the first second, and while another relay is at it.
inline constexpr const char* kNothingDecided = "nothing decided yet: live traffic is measured for a second first";

std::string explain_cause(const Status& status);

// "last progress 3 min ago", "no progress was ever saved".
std::string last_progress(const Status& status);

}  // namespace spillway::status
