#include "status/assemble.h"

#include <algorithm>

#include "status/alerts.h"
#include "status/cause.h"

namespace spillway::status {
namespace {

bool lease_held(const StoreFigures& store) {
  return store.figures && store.figures->lease && store.figures->lease->expires_in.count() > 0;
}

bool should_move(const StoreFigures& store) {
  return store.figures && store.figures->waiting_rows > 0 && !store.figures->pause.all;
}

// Rows wait that are old, and nothing was saved for as long: whoever holds the lease does not work.
bool nothing_moves(const StoreFigures& store) {
  if (!should_move(store) || !store.figures->oldest_age_s) return false;
  const double progress_age = store.figures->progress_age_s.value_or(*store.figures->oldest_age_s);
  return std::min(*store.figures->oldest_age_s, progress_age) >= kFrozenAfterS;
}

RelayCondition condition_of(const StoreFigures& store, const std::optional<LiveFigures>& live) {
  if (live && live->turn_age_s >= kFrozenAfterS) return RelayCondition::kFrozen;
  // One that stands by answers for itself alone: of the owner only the store tells.
  const bool speaks_for_owner = live && (live->state != relay::RelayState::kStandby || !store.figures);
  if (speaks_for_owner) return RelayCondition::kAnswering;
  if (!lease_held(store)) return RelayCondition::kNone;
  if (nothing_moves(store)) return RelayCondition::kFrozen;
  return live ? RelayCondition::kAnswering : RelayCondition::kSilent;
}

Eta eta_of(const Status& status) {
  if (status.store.figures && status.store.figures->pause.all && status.backlog.events.value_or(1) > 0) {
    return {.kind = Eta::Kind::kNever, .reason = "paused: nothing leaves"};
  }
  const bool moves = status.condition == RelayCondition::kAnswering && status.relay &&
                     status.relay->state == relay::RelayState::kRunning;
  if (moves && status.backlog.events.value_or(0) > 0 && status.backlog.oldest_age_s.value_or(kLiveAgeS) < kLiveAgeS) {
    return {Eta::Kind::kKnown, 0, 0, 0, "keeping up: nothing waits longer than 5 s"};
  }
  if (status.backlog.events == 0 && status.store.figures && status.store.figures->behind_their_key > 0) {
    return {.reason = "unknown: what waits does so behind an earlier event of its key"};
  }
  EtaInputs in{.backlog = status.backlog.events};
  if (status.relay) {
    in.drain = status.rates.published;
    in.arrival = status.rates.arrival;
    in.spread = status.relay->net;
  }
  Eta eta = estimate_eta(in);
  if (eta.kind == Eta::Kind::kUnknown && status.backlog.events && !status.relay) {
    eta.reason = "unknown: no relay tells its rates";
  }
  return eta;
}

GovernorView governor_of(const Subject& subject, const std::optional<LiveFigures>& live) {
  GovernorView view = live ? live->governor : GovernorView{};
  if (live && (!view.cause.empty() || !subject.signals_given)) return view;
  if (live) {
    view.law = "unknown";
    view.reason = kNothingDecided;
  } else if (subject.signals_given) {
    view.law = "unknown";
    view.state = "unknown";
    view.reason = "no relay answers";
  } else {
    view.reason = kNoSignals;
  }
  return view;
}

}  // namespace

std::int64_t arrived_total(const ports::Figures& figures) {
  return figures.published + figures.waiting_rows + figures.discarded + figures.reconciled + figures.open_settlements +
         figures.behind_their_key;
}

Status assemble(const Subject& subject, const StoreFigures& store, const std::optional<LiveFigures>& live) {
  Status status{.subject = subject, .store = store, .condition = condition_of(store, live), .relay = live};
  if (live) {
    status.live = live->live;
    status.rates = live->rates;
    status.signals = live->signals;
  }
  if (store.figures) {
    const ports::Figures& figures = *store.figures;
    status.backlog.events = std::max<std::int64_t>(0, figures.waiting_rows - status.live.events.value_or(0));
    status.backlog.estimated = figures.estimated;
    if (*status.backlog.events > 0) status.backlog.oldest_age_s = figures.oldest_age_s;
    status.backlog.bytes = figures.waiting_bytes;
  }
  status.governor = governor_of(subject, live);
  status.eta = eta_of(status);
  status.alerts = find_alerts(status);
  status.cause = explain_cause(status);
  return status;
}

}  // namespace spillway::status
