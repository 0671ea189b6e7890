// A decision of the governor as it is shown.
#pragma once

#include <optional>

#include "governor/decision.h"
#include "governor/law.h"
#include "status/status.h"

namespace spillway::status {

// A rate for people: none where there is no limit.
std::optional<double> if_finite(double rate);

// Without `held_at` and `since`, which a single decision does not know.
GovernorView view_of(governor::LawKind law, const governor::Decision& decision);

// Whether somebody steers: there is something to say about the rate beyond "as fast as it goes".
bool steered(const GovernorView& governor);

// "at most 500/s, another 29 min, by ann@box: month end".
std::string override_words(const ports::Override& limit, const std::optional<double>& held_at);

}  // namespace spillway::status
