// What `triage` in the configuration means: rules that compile, and the judge that applies them.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/fault.h"
#include "ports/outbox_store.h"
#include "triage/rule_judge.h"

namespace spillway::app {

// What is wrong with conditions of rules, each at its place in the configuration.
std::vector<config::Fault> triage_faults(const config::Config& config);

// The judge that the daemon and `spillway triage` share. Asks nothing yet: RuleJudge::check does. Null where there is
// neither a rule nor a replay window, so that everything is published. kMisconfigured names the first fault.
base::Result<std::unique_ptr<triage::RuleJudge>> open_judge(const config::Config& config, ports::OutboxStore& store);

}  // namespace spillway::app
