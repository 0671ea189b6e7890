#include "relay/relay.h"

#include <algorithm>

namespace spillway::relay {
namespace {

constexpr std::size_t kRefusedMost = 2'000;  // a topic that is refused must not fill memory with its rows
// How often tokens are looked for again: a burst of the pacer holds 50 ms.
constexpr base::Duration kPaceEvery = std::chrono::milliseconds(20);

// Reading stops where as many are unsaved as may be sent again.
SavePlan::Options save_options(const RelayOptions& options) {
  const auto ahead = static_cast<std::int64_t>(options.ahead / 2);
  return {options.save_every, std::min(options.save_rows, std::max<std::int64_t>(1, ahead)), options.marks_rows};
}

}  // namespace

Relay::Relay(Route route, const RelayOptions& options, ports::Sink& sink, std::function<double()> uniform)
    : options_(options),
      outbound_(std::move(route), options.outbound, sink),
      key_stop_(options.stop_key, options.lanes),
      pace_(options.poll_busy, options.poll_idle),
      reach_(options.live_age),
      uniform_(std::move(uniform)),
      saves_(save_options(options)) {}

void Relay::use_lanes(bool lanes, bool triage) {
  options_.lanes = lanes;
  options_.triage = lanes && triage;
  key_stop_ = KeyStop(options_.stop_key, lanes);
}

void Relay::lease_held(const ports::Lease& lease, base::Instant now) {
  if (state_ != RelayState::kStandby && fence_.epoch == lease.epoch && fence_.holder == lease.holder) return;
  fence_ = {lease.holder, lease.epoch, {}};
  forget("took the lease");
  ledger_.may_ask_from(now);
  read_.may_ask_from(now);
}

void Relay::lease_lost() {
  forget("lost the lease");
  state_ = RelayState::kStandby;
}

void Relay::drain() {
  draining_ = true;
  if (state_ == RelayState::kRunning) {
    lanes_.live().batches().clear();
    for (Interval& interval : lanes_.backlog()) interval.lane().batches().clear();
    promoted_.clear();
    asides_.clear();
    state_ = RelayState::kDraining;
  } else if (state_ == RelayState::kLoading) {
    state_ = RelayState::kStandby;
  }
}

bool Relay::drained() const {
  if (ledger_.out() || outbound_.in_flight() > 0) return false;
  if (state_ == RelayState::kStandby) return true;
  return state_ == RelayState::kDraining && unrecorded_.empty() && !released_.has_to_tell() && saves_.unsaved() == 0 &&
         saves_.stands_at(lanes_.progress());
}

void Relay::forget(std::string why) {
  forgot_because_ = std::move(why);
  outbound_.forget();
  lanes_ = Lanes();
  promotion_ = Promotion();
  went_ahead_.clear();
  clear_keys_ = ClearKeys();
  promoted_.clear();
  asides_.clear();
  unrecorded_ = Unrecorded();
  released_.forget();
  free_keys_ = FreeKeys();
  saves_ = SavePlan(save_options(options_));
  reach_ = LiveReach(options_.live_age);
  stall_over_ = false;
  key_stop_.doubt();
  read_.forget();
  ledger_.forget();
  ++counters_.forgotten;
  state_ = draining_ ? RelayState::kStandby : RelayState::kLoading;
}

void Relay::pace(const governor::Decision& decision) {
  allowance_.apply(decision);
  if (decision.state == governor::State::kTracking && decision.capacity > 0) capacity_ = decision.capacity;
}

// ---- sending -------------------------------------------------------------------------------------------------------

void Relay::pump(base::Instant now) {
  if (state_ != RelayState::kRunning || paused_) return;
  if (recovery_due(now)) {
    // The page that is being read belongs to what is left behind.
    if (is_reading(Purpose::kLive) || is_reading(Purpose::kBacklog)) return;
    recover(now);
  }
  allowance_.refill(now);
  for (auto at = asides_.begin(); at != asides_.end();) {
    if (!pump_batch(*at, nullptr, now)) {
      ++at;
      continue;
    }
    if (at->gate) outbound_.wanted_done(*at->gate);
    at = asides_.erase(at);
  }
  pump_live(now);
  if (!backlog_paused_) pump_backlog(now);
}

void Relay::pump_live(base::Instant now) {
  auto& batches = lanes_.live().batches();
  while (!batches.empty() && pump_batch(batches.front(), &lanes_.live().window(), now)) batches.pop_front();
}

// Keys that go first hold up the rest, and so does the look for their rows: what it finds must not leave by the lane
// meanwhile. An interval begins when all of the one before is on its way.
void Relay::pump_backlog(base::Instant now) {
  while (!promoted_.empty() && pump_batch(promoted_.front(), nullptr, now)) promoted_.pop_front();
  if (!promoted_.empty() || is_reading(Purpose::kPromotion)) return;
  for (Interval& interval : lanes_.backlog()) {
    auto& batches = interval.lane().batches();
    while (!batches.empty() && pump_batch(batches.front(), &interval.lane().window(), now)) batches.pop_front();
    if (!batches.empty() || !interval.read_whole()) return;
  }
}

// `window`: of the lane that the batch belongs to; null where it is outside the order of pages.
bool Relay::pump_batch(Batch& batch, const Window* window, base::Instant now) {
  if (!batch.ready) return false;
  for (; !batch.done(); ++batch.next) {
    if (window != nullptr && window->ahead() >= ahead_of_a_lane()) return false;
    if (unrecorded_.size() >= kRefusedMost || !pump_row(batch, window != nullptr, now)) return false;
    if (Released::is(batch.ordinals[batch.next])) released_.placed(batch.page.rows[batch.next].seq);
  }
  return true;
}

// The next row of the batch; false where it has to wait in memory.
bool Relay::pump_row(const Batch& batch, bool in_lane, base::Instant now) {
  const model::Row& row = batch.page.rows[batch.next];
  const Ordinal ordinal = batch.ordinals[batch.next];
  const bool again = batch.gate.has_value();
  if (!batch.settled.empty() && batch.settled[batch.next]) return true;
  if (in_lane && !went_ahead_.empty() && !lanes_.is_live(ordinal)) {
    const auto meeting = went_ahead_.meet(row.seq, ordinal);
    if (meeting == WentAhead::Meeting::kPass) lanes_.finish(ordinal);
    if (meeting != WentAhead::Meeting::kUnknown) return true;
  }
  // What a rule reconciled goes to another topic, in no order.
  const model::Settlement* reconciled = released_.reconciled(row.seq, ordinal);
  if (reconciled == nullptr && again && Released::is(ordinal)) {
    if (released_.waits(row)) return false;
    if (released_.overtakes(row)) return released_.put_back(row.seq), true;
  }
  if (reconciled == nullptr && key_stop_.stops(row, Released::is(ordinal))) {
    settle(stays_behind(row, key_stop_.verdict(), "an earlier event of its key is held back"), ordinal);
    return true;
  }
  if (batch.waits_at(batch.next)) {
    ++counters_.waited;
    settle(stays_behind(row, model::Verdict::kWaiting, "its key still has backlog"), ordinal);
    return true;
  }
  const Flow flow = flow_of(ordinal);
  if (!allowance_.may_go(flow, again, outbound_.in_flight())) return false;
  switch (outbound_.offer({&row, batch.page.db_now_micros, ordinal, batch.gate, reconciled}, now)) {
    case Placement::kSent:
      ++counters_.sent;
      allowance_.went(flow, again);
      return true;
    case Placement::kDeferred: return true;
    case Placement::kBlocked: return false;
    case Placement::kSettle: settle(outbound_.settlement(), ordinal); return true;
  }
  return false;
}

model::Settlement Relay::stays_behind(const model::Row& row, model::Verdict verdict, const char* reason) {
  model::Settlement settlement;
  settlement.seq = row.seq;
  settlement.id = row.id;
  settlement.key = std::string(*row.aggregate_id);
  settlement.type = row.type;
  settlement.bytes = static_cast<std::int64_t>(row.payload ? row.payload->size() : 0);
  settlement.verdict = verdict;
  settlement.reason = reason;
  settlement.who = "relay";
  return settlement;
}

void Relay::settle(model::Settlement settlement, Ordinal ordinal) {
  key_stop_.recording(settlement);
  if (settlement.verdict == model::Verdict::kSetAside) ++counters_.set_aside;
  unrecorded_.add(std::move(settlement), ordinal);
}

void Relay::finish(std::int64_t seq, Ordinal ordinal) {
  if (Released::is(ordinal)) return released_.finish(seq);
  if (!lanes_.finish(ordinal)) finish_ahead(seq);
  if (!lanes_.is_live(ordinal)) backlog_finished();
}

void Relay::recorded(std::int64_t seq, Ordinal ordinal) {
  if (Released::is(ordinal)) return released_.recorded(seq);
  if (!lanes_.recorded(ordinal)) finish_ahead(seq);
  if (!lanes_.is_live(ordinal)) backlog_finished();
}

void Relay::finish_ahead(std::int64_t seq) {
  if (const auto met = went_ahead_.finished(seq)) lanes_.finish(*met);
  promotion_.finished(seq);
  promotions_completed();
}

void Relay::backlog_finished() {
  lanes_.drop_finished();
  if (lanes_.backlog().empty()) went_ahead_.clear();
}

Flow Relay::flow_of(Ordinal ordinal) const {
  if (Released::is(ordinal) || lanes_.is_live(ordinal)) return Flow::kLive;
  return Promotion::is(ordinal) ? Flow::kPromoted : Flow::kBacklog;
}

void Relay::finished(const Flight& flight, base::Instant now) {
  ++counters_.published;
  LaneTally& tally = tallies_.of(flow_of(flight.ordinal));
  ++tally.published;
  tally.bytes += flight.bytes;
  if (flight.created_at) tally.delay_seconds.add(base::elapsed(*flight.created_at, now));
  counters_.published_bytes += flight.bytes;
  saves_.published(flight.seq);
  finish(flight.seq, flight.ordinal);
}

void Relay::sink_events(const ports::SinkEvents& events, base::Instant now) {
  for (ports::TopicId topic : events.topics) stalled(outbound_.topic_changed(topic, now));
  bool lost = false;
  for (const ports::Delivery& delivery : events.deliveries) {
    const Answer answer = outbound_.answered(delivery, now);
    stalled(answer.stalled_for);
    if (answer.kind == Answer::Kind::kFinished) finished(answer.flight, now);
    lost = lost || answer.kind == Answer::Kind::kForget;
  }
  if ((lost || events.rebuilt) && state_ != RelayState::kStandby) {
    forget(events.rebuilt ? "the producer was rebuilt: " + events.rebuilt_reason : "some records may not have arrived");
  }
  pump(now);
}

// ---- time ----------------------------------------------------------------------------------------------------------

base::Instant Relay::next_wake(base::Instant now) const {
  // Stalls, topics that are over, and the ledger's small duties are a matter of tens of milliseconds.
  base::Instant wake = now + std::chrono::milliseconds(100);
  const bool reads = state_ == RelayState::kRunning && !read_.out() && !paused_;
  if (reads && room_in(lanes_.live())) wake = std::min(wake, std::max(pace_.next(), read_.not_before()));
  if (allowance_.limited() &&
      (lanes_.batches_behind() > 0 || !promoted_.empty() || !lanes_.live().batches().empty() || !asides_.empty())) {
    wake = std::min(wake, now + kPaceEvery);
  }
  if (const auto save = saves_.next_wake(); save && !ledger_.out()) {
    wake = std::min(wake, std::max(*save, ledger_.not_before()));
  }
  return std::max(wake, now);
}

}  // namespace spillway::relay
