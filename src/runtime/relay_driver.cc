#include "runtime/relay_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

namespace spillway::runtime {
namespace {

constexpr base::Duration kNotStartedEvery = std::chrono::milliseconds(500);
constexpr base::Duration kControlEvery = std::chrono::seconds(1);
constexpr base::Duration kCleanEvery = std::chrono::minutes(1);
constexpr base::Duration kCleanPause = std::chrono::milliseconds(200);  // between full pieces: writers come first
constexpr base::Duration kLookAheadEvery = std::chrono::hours(1);
constexpr base::Duration kLookAheadAgain = std::chrono::minutes(1);
constexpr base::Duration kReleaseTime = std::chrono::seconds(1);  // least time for freeing the lease at the end
constexpr std::size_t kCleanRows = 5'000;

std::function<double()> uniform() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::uniform_real_distribution<double>(0, 1)(engine);
  };
}

relay::LedgerAnswer perform(ports::OutboxLedger& ledger, const relay::LedgerRequest& request) {
  using Kind = relay::LedgerRequest::Kind;
  relay::LedgerAnswer answer;
  answer.kind = request.kind;
  const auto take = [&answer](auto result, auto& into) {
    if (result)
      into = std::move(*result);
    else
      answer.status = std::unexpected(result.error());
  };
  switch (request.kind) {
    case Kind::kLoad: take(ledger.load(), answer.loaded); break;
    case Kind::kSave: answer.status = ledger.save(request.fence, request.save); break;
    case Kind::kRecord: answer.status = ledger.record(request.fence, request.settlements); break;
    case Kind::kFinish: answer.status = ledger.finish(request.fence, request.seqs); break;
    case Kind::kReleased: take(ledger.released(0, request.limit), answer.released); break;
    case Kind::kReleaseKeys: take(ledger.release_keys(request.fence, request.keys), answer.count); break;
    case Kind::kHeldKeys: take(ledger.held_keys(request.holds), answer.keys); break;
  }
  return answer;
}

}  // namespace

RelayDriver::RelayDriver(Loop& loop, ports::OutboxStore& store, ports::Sink& sink, int sink_fd, relay::Route route,
                         DriverOptions options)
    : loop_(loop),
      sink_(sink),
      options_(std::move(options)),
      relay_(std::move(route), options_.relay, sink, uniform()),
      keeper_(options_.lease),
      holder_(base::random_uuid()),
      reader_(store.open_reader()),
      ledger_(store.open_ledger()),
      cleaner_(store.open_ledger()),
      lease_session_(store.open_lease()),
      control_(store.open_operator()),
      timer_(loop, [this] { turn(); }),
      watch_(loop, sink_fd, [this] { turn(); }) {
  loop_.post([this] { turn(); });
}

RelayDriver::~RelayDriver() = default;

void RelayDriver::start() {
  started_ = true;
  turn();
}

void RelayDriver::hint() {
  relay_.hint();
  turn();
}

void RelayDriver::say(const std::string& line) const {
  if (options_.on_event) options_.on_event(line);
}

void RelayDriver::turn() {
  const base::Instant now = Loop::now();
  last_turn_ = now;
  events_.clear();
  sink_.drain(events_);  // also before the start: what wakes the loop has to be taken, or it wakes it for ever
  if (!started_) return timer_.at(now + kNotStartedEvery);
  check_lease(now);
  if (events_.rebuilt) say("the Kafka producer was rebuilt: " + events_.rebuilt_reason);
  relay_.sink_events(events_, now);
  say_recovery();
  ask_lease(now);
  watch_controls(now);
  clean_up(now);
  look_ahead(now);
  dispatch(now);
  if (stopping_) finish_stop(now);
  base::Instant wake =
      std::min(relay_.next_wake(now), std::max(keeper_.next_wake(), now + std::chrono::milliseconds(1)));
  if (on_stopped_) wake = std::min(wake, stop_by_);
  timer_.at(wake);
}

void RelayDriver::say_recovery() {
  const std::int64_t recoveries = relay_.counters().recoveries;
  if (std::exchange(recoveries_, recoveries) != recoveries)
    say("a recovery begins: what was not sent by now is backlog");
  const bool recovering = !relay_.lanes().backlog().empty();
  if (std::exchange(recovering_, recovering) && !recovering && relay_.state() == relay::RelayState::kRunning) {
    say("the backlog is gone");
  }
}

// ---- the lease -----------------------------------------------------------------------------------------------------

void RelayDriver::check_lease(base::Instant now) {
  const bool held = keeper_.held(now);
  if (held && !stopping_) relay_.lease_held(*keeper_.lease(), now);
  if (!held && held_) {
    relay_.lease_lost();
    say("lost the lease: standing by");
  }
  if (held && !held_) say(fmt::format("holds the lease, epoch {}", keeper_.lease()->epoch));
  held_ = held;
}

void RelayDriver::ask_lease(base::Instant now) {
  if (releasing_ || (stopping_ && !keeper_.held(now))) return;
  const auto ask = keeper_.next(now);
  if (!ask) return;
  const auto ttl = std::chrono::duration_cast<std::chrono::milliseconds>(keeper_.times().ttl);
  if (*ask == relay::LeaseKeeper::Ask::kAcquire) {
    leasing_.submit([this, ttl] {
      auto state = lease_session_->acquire(holder_, options_.holder_name, ttl);
      loop_.post([this, state = std::move(state)] {
        if (state) store_reached_ = true;
        keeper_.acquired(state, Loop::now());
        turn();
      });
    });
    return;
  }
  leasing_.submit([this, ttl, lease = *keeper_.lease()] {
    auto status = lease_session_->renew(lease, ttl);
    loop_.post([this, status = std::move(status)] {
      keeper_.renewed(status, Loop::now());
      turn();
    });
  });
}

// ---- reading and writing -------------------------------------------------------------------------------------------

void RelayDriver::dispatch(base::Instant now) {
  relay_.pump(now);
  if (auto request = relay_.next_read(now)) read(std::move(*request));
  if (auto request = relay_.next_ledger(now)) write(std::move(*request));
}

void RelayDriver::read(relay::ReadRequest request) {
  if (request.kind == relay::ReadRequest::Kind::kKeysBehind) return look_up_keys(std::move(request));
  reading_.submit([this, request = std::move(request), judge = options_.judge] {
    using Kind = relay::ReadRequest::Kind;
    auto page = request.kind == Kind::kPage ? reader_->read(request.from, request.incarnation, request.limits)
                : request.kind == Kind::kKeyRows
                    ? reader_->read_keys(request.keys_after, request.places, request.incarnation, request.limits)
                    : reader_->read_again(request.seqs, request.incarnation, request.limits);
    std::vector<ports::Judgement> judgements;
    if (page && request.judge && judge && !page->rows.empty()) {
      if (auto judged = judge->judge(*page, request.as_of_unix_micros)) {
        judgements = std::move(*judged);
      } else {
        page = std::unexpected(judged.error());
      }
    }
    loop_.post([this, page = std::move(page), judgements = std::move(judgements)]() mutable {
      const base::Instant now = Loop::now();
      check_lease(now);
      relay_.read_done(std::move(page), now, std::move(judgements));
      turn();
    });
  });
}

void RelayDriver::look_up_keys(relay::ReadRequest request) {
  reading_.submit([this, request = std::move(request)] {
    auto found = reader_->keys_behind(request.keys, request.places, request.incarnation);
    loop_.post([this, found = std::move(found)] {
      const base::Instant now = Loop::now();
      check_lease(now);
      relay_.keys_behind_done(found, now);
      turn();
    });
  });
}

void RelayDriver::write(relay::LedgerRequest request) {
  writing_.submit([this, request = std::move(request)] {
    auto answer = perform(*ledger_, request);
    loop_.post([this, answer = std::move(answer)] {
      const base::Instant now = Loop::now();
      if (!answer.status && answer.status.error().error_class == base::ErrorClass::kLostLease) keeper_.lost(now);
      relay_.ledger_done(answer, now);
      turn();
    });
  });
}

// ---- what people asked for, and the rows nobody needs ---------------------------------------------------------------

void RelayDriver::watch_controls(base::Instant now) {
  if (control_out_ || now < control_due_) return;
  control_out_ = true;
  tending_.submit([this] {
    auto controls = control_->controls();
    loop_.post([this, controls = std::move(controls)] {
      control_out_ = false;
      control_due_ = Loop::now() + kControlEvery;
      if (!controls) return;
      const ports::Pause& pause = controls->pause;
      if (pause.all != controls_.pause.all) say(pause.all ? "paused: " + pause.reason : std::string("resumed"));
      controls_ = *controls;
      controls_at_ = Loop::now();
      relay_.pause(controls_.pause.all);
      relay_.pause_backlog(controls_.pause.backlog);
      turn();
    });
  });
}

void RelayDriver::clean_up(base::Instant now) {
  if (!options_.keep || cleaning_ || stopping_ || now < clean_due_ || relay_.state() != relay::RelayState::kRunning)
    return;
  cleaning_ = true;
  tending_.submit([this, fence = relay_.fence(), keep = *options_.keep] {
    auto removed = cleaner_->clean_up(fence, keep, kCleanRows);
    loop_.post([this, removed = std::move(removed)] {
      cleaning_ = false;
      const bool full = removed && *removed >= static_cast<std::int64_t>(kCleanRows);
      clean_due_ = Loop::now() + (full ? kCleanPause : kCleanEvery);
    });
  });
}

void RelayDriver::look_ahead(base::Instant now) {
  if (looking_ahead_ || stopping_ || now < look_ahead_due_ || relay_.state() != relay::RelayState::kRunning) return;
  looking_ahead_ = true;
  tending_.submit([this] {
    auto looked = cleaner_->look_ahead();
    loop_.post([this, looked = std::move(looked)] {
      looking_ahead_ = false;
      const auto why = looked ? std::nullopt : std::optional(looked.error().error_class);
      const bool again = why == base::ErrorClass::kTransient || why == base::ErrorClass::kUnavailable;
      look_ahead_due_ = Loop::now() + (again ? kLookAheadAgain : kLookAheadEvery);
      if (again) return;
      const std::string message = looked ? std::string() : looked.error().message;
      if (said_ahead_ != message && !message.empty()) say(message);
      said_ahead_ = message;
    });
  });
}

// ---- the end -------------------------------------------------------------------------------------------------------

void RelayDriver::stop(base::Duration limit, std::function<void(StopOutcome)> done) {
  stopping_ = true;
  on_stopped_ = std::move(done);
  stop_by_ = Loop::now() + limit;
  relay_.drain();
  turn();
}

void RelayDriver::finish_stop(base::Instant now) {
  if (releasing_) {
    if (now >= stop_by_) stopped(StopOutcome::kLeaseNotFreed);
    return;
  }
  const StopOutcome outcome = relay_.drained() ? StopOutcome::kClean : StopOutcome::kInDoubt;
  if (outcome == StopOutcome::kInDoubt && now < stop_by_) return;
  releasing_ = true;
  stop_by_ = std::max(stop_by_, now + kReleaseTime);
  if (!keeper_.held(now)) return loop_.post([this, outcome] { stopped(outcome); });
  leasing_.submit([this, outcome, lease = *keeper_.lease()] {
    const base::Status ignored = lease_session_->release(lease);  // if it fails the lease runs out by itself
    loop_.post([this, outcome] { stopped(outcome); });
  });
}

void RelayDriver::stopped(StopOutcome outcome) {
  if (const auto done = std::exchange(on_stopped_, nullptr)) done(outcome);
}

}  // namespace spillway::runtime
