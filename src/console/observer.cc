#include "console/observer.h"

#include <chrono>

#include "status/cause.h"

namespace spillway::console {
namespace {

constexpr base::Duration kTick = std::chrono::milliseconds(250);

double unix_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

Observer::Observer(runtime::Loop& loop, Desk& desk, const runtime::RelayDriver& driver, ObserverOptions options)
    : desk_(desk), driver_(driver), options_(std::move(options)), timer_(loop, [this] { tick(); }) {}

void Observer::start() { tick(); }

void Observer::tick() {
  const base::Instant now = runtime::Loop::now();
  ticked_at_ = now;
  published_.observe(now, driver_.relay().counters().published);
  if (const auto drain = published_.per_second(now); drain && arrival_) spread_.observe(now, *drain - *arrival_);
  if (!asking_ && (!figures_unix_s_ || base::elapsed(asked_at_, now) >= options_.refresh)) ask_store();
  timer_.after(kTick);
}

void Observer::ask_store() {
  asked_at_ = runtime::Loop::now();
  asking_ = desk_.submit([this](ports::OperatorSession& session) -> Desk::Then {
    return [this, figures = session.figures()] { figures_came(figures); };
  });
}

void Observer::figures_came(base::Result<ports::Figures> figures) {
  asking_ = false;
  if (!figures) {
    store_error_ = figures.error().message;
    return;
  }
  const base::Instant now = runtime::Loop::now();
  figures_ = std::move(*figures);
  figures_at_ = now;
  figures_unix_s_ = unix_now();
  store_error_.clear();
  arrived_.observe(now, status::arrived_total(*figures_));
  // As of this answer: between two of them nothing is known to have arrived.
  arrival_ = arrived_.per_second(now);
}

status::StoreFigures Observer::store_figures() const {
  if (!figures_) return {.figures = {}, .age_s = 0, .error = store_error_};
  return {.figures = figures_,
          .age_s = base::seconds(base::elapsed(figures_at_, runtime::Loop::now())),
          .error = store_error_};
}

double Observer::turn_age_s() const { return base::seconds(base::elapsed(driver_.last_turn(), runtime::Loop::now())); }

status::LiveFigures Observer::live() {
  const base::Instant now = runtime::Loop::now();
  const relay::Relay& relay = driver_.relay();
  status::LiveFigures live{.process = options_.process, .state = relay.state(), .turn_age_s = turn_age_s()};
  live.rates.published = published_.per_second(now);
  live.rates.arrival = arrival_;
  live.net = spread_.range(now);
  live.unfinished = static_cast<std::int64_t>(relay.unfinished());
  live.in_flight = static_cast<std::int64_t>(relay.outbound().in_flight());
  live.in_flight_bytes = static_cast<std::int64_t>(relay.outbound().bytes_in_flight());
  live.held_by_ahead = relay.held_by_ahead();
  live.stuck = relay.outbound().stuck(now);
  // A topic that can never be written to, and for which nothing waits any more, holds nobody up.
  std::erase_if(live.stuck, [](const relay::StuckPartition& partition) { return partition.waiting == 0; });
  live.governor.reason = status::kNoSignals;
  steering_.describe(now, live);
  if (relay.store_error()) live.store_error = relay.store_error()->message;
  if (options_.sink_error) live.sink_error = options_.sink_error();
  return live;
}

status::Status Observer::now() { return status::assemble(options_.subject, store_figures(), live()); }

}  // namespace spillway::console
