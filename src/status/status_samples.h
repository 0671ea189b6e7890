// Situations that several tests look at.
#pragma once

#include "status/assemble.h"
#include "status/governor_view.h"

namespace spillway::status {

inline Subject subject() { return {.outbox = "default", .store = "SQLite /var/lib/app.db"}; }

inline ports::LeaseState lease(std::chrono::milliseconds expires_in) {
  ports::LeaseState state{.holder_name = "box1:4711", .expires_in = expires_in};
  state.lease.epoch = 4;
  state.lease.holder = *base::parse_uuid("11111111-2222-4333-8444-555555555555");
  return state;
}

inline ports::Figures working_figures() {
  return {.waiting_rows = 1200,
          .oldest_age_s = 0.2,
          .waiting_bytes = 300'000,
          .lease = lease(std::chrono::seconds(8)),
          .progress_age_s = 0.1,
          .published = 50'000};
}

inline LiveFigures running() {
  LiveFigures live{.process = "box1:4711", .state = relay::RelayState::kRunning, .turn_age_s = 0.01};
  live.rates.arrival = 1000;
  live.rates.published = 1000;
  live.governor.reason = "no signals configured";
  return live;
}

inline GovernorView braking() {
  return view_of(governor::LawKind::kAdaptive, {.total_rate = 70,
                                                .backlog_budget = 0,
                                                .live_cap = 70,
                                                .state = governor::State::kBraking,
                                                .cause = {governor::CauseKind::kCollapsed, "bank", 0.4, 0.25, ""},
                                                .capacity = 1400,
                                                .live_rate = 1200});
}

inline StoreFigures said(const ports::Figures& figures) { return {.figures = figures}; }

}  // namespace spillway::status
