// `spillway plan` for the outbox as it is: what was not given is asked of the store and of the running relay.
#pragma once

#include <iosfwd>
#include <optional>

#include "app/inquiry.h"
#include "app/plan_command.h"
#include "config/config.h"
#include "ports/outbox_store.h"

namespace spillway::app {

struct PlanWish {
  std::optional<double> backlog{};   // events
  std::optional<double> capacity{};  // events/s in total
  std::optional<double> live{};      // events/s

  bool complete() const { return backlog && capacity && live; }
};

// `options` says how to plan, its figures aside. As run_plan; 1 where the store is asked and does not answer, 2 where
// a figure is not known, with the option that helps.
int run_plan_outbox(const PlanWish& wish, const Inquiry& inquiry, PlanOptions options, ports::OutboxStore& store,
                    std::ostream& out, std::ostream& err);

// The tightest latency ceiling of the configured signals, in seconds; empty where none has one.
std::optional<double> tightest_ceiling_s(const config::Config& config);

}  // namespace spillway::app
