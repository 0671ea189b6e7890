#include "relay/relay.h"

#include <algorithm>
#include <cassert>

namespace spillway::relay {
namespace {

constexpr std::size_t kMaxPageRows = 5'000;
constexpr std::size_t kPagesAhead = 2;
constexpr std::size_t kReleasedAtOnce = 500;
constexpr base::Duration kReleasedEvery = std::chrono::seconds(1);
// The place also moves while no row arrives; saving that is only a matter of a quick start.
constexpr base::Duration kIdleSaveEvery = std::chrono::seconds(30);

const resilience::BackoffSettings kStoreBackoff{.base = std::chrono::milliseconds(50),
                                                .factor = 2.0,
                                                .cap = std::chrono::seconds(5),
                                                .jitter = resilience::Jitter::kFull};

}  // namespace

Relay::Relay(Route route, const RelayOptions& options, ports::Sink& sink, std::function<double()> uniform)
    : options_(options),
      sink_(sink),
      outbound_(std::move(route), options.outbound, sink),
      key_stop_(options.stop_key),
      pace_(options.poll_busy, options.poll_idle),
      uniform_(std::move(uniform)),
      read_backoff_(kStoreBackoff),
      ledger_backoff_(kStoreBackoff) {}

void Relay::lease_held(const ports::Lease& lease, base::Instant now) {
  if (state_ != RelayState::kStandby && fence_.epoch == lease.epoch && fence_.holder == lease.holder) return;
  fence_ = {lease.holder, lease.epoch, {}};
  forget("took the lease");
  ledger_not_before_ = read_not_before_ = now;
}

void Relay::lease_lost() {
  forget("lost the lease");
  state_ = RelayState::kStandby;
}

void Relay::drain() {
  draining_ = true;
  if (state_ == RelayState::kRunning) {
    batches_.clear();
    asides_.clear();
    state_ = RelayState::kDraining;
  } else if (state_ == RelayState::kLoading) {
    state_ = RelayState::kStandby;
  }
}

bool Relay::drained() const {
  if (state_ == RelayState::kStandby) return !ledger_out_;
  return state_ == RelayState::kDraining && outbound_.in_flight() == 0 && !ledger_out_ && unrecorded_.empty() &&
         released_done_.empty() && window_.position() == saved_;
}

void Relay::forget(std::string why) {
  forgot_because_ = std::move(why);
  outbound_.forget();
  batches_.clear();
  asides_.clear();
  window_ = Window();
  unrecorded_.clear();
  recording_ = finishing_ = 0;
  released_.clear();
  released_done_.clear();
  released_out_ = 0;
  unsaved_published_ = saving_published_ = 0;
  saving_finished_.clear();
  caught_up_ = keys_known_ = none_released_ = false;
  ++life_;
  ++counters_.forgotten;
  state_ = draining_ ? RelayState::kStandby : RelayState::kLoading;
}

// ---- reading -------------------------------------------------------------------------------------------------------

std::size_t Relay::page_bytes() const {
  return std::clamp<std::size_t>(options_.outbound.bytes_in_flight / 8, 64 * 1024, 2 << 20);
}

bool Relay::room_to_read() const {
  return batches_.size() < kPagesAhead && window_.ahead() < options_.ahead &&
         window_.open() < options_.ahead + options_.outbound.events_in_flight &&
         unsaved_published_ < static_cast<std::int64_t>(options_.ahead);
}

std::optional<ReadRequest> Relay::next_read(base::Instant now) {
  if (state_ != RelayState::kRunning || read_out_ || paused_ || now < read_not_before_) return std::nullopt;
  if (auto again = again_request(now)) return again;
  if (!room_to_read() || !pace_.due(now)) return std::nullopt;
  ReadRequest request;
  request.from = read_from_;
  request.incarnation = fence_.incarnation;
  // Room for half as many again, so that a page of rows like the last ones is cut by rows and not by bytes.
  request.limits = {std::clamp<std::size_t>(page_bytes() * 2 / (average_row_ * 3 + 1), 16, kMaxPageRows), page_bytes()};
  read_out_ = true;
  reading_life_ = life_;
  return request;
}

std::optional<ReadRequest> Relay::again_request(base::Instant now) {
  if (asides_.size() >= kPagesAhead) return std::nullopt;
  Again again;
  if (!released_.empty()) {
    again.origin = Flight::Origin::kReleased;
    for (std::int64_t seq : std::exchange(released_, {})) again.rows.emplace_back(seq, static_cast<Ordinal>(seq));
  } else if (auto wanted = outbound_.wanted(now)) {
    again.gate = wanted->gate;
    for (Ordinal ordinal : wanted->ordinals) again.rows.emplace_back(window_.seq_of(ordinal), ordinal);
  } else {
    return std::nullopt;
  }
  std::sort(again.rows.begin(), again.rows.end());
  ReadRequest request;
  request.kind = ReadRequest::Kind::kAgain;
  for (const auto& [seq, ordinal] : again.rows) request.seqs.push_back(seq);
  request.incarnation = fence_.incarnation;
  request.limits = {again.rows.size(), page_bytes()};
  again_out_ = std::move(again);
  read_out_ = true;
  reading_life_ = life_;
  return request;
}

void Relay::read_done(base::Result<model::Page> page, base::Instant now) {
  read_out_ = false;
  const std::optional<Again> again = std::exchange(again_out_, std::nullopt);
  if (reading_life_ != life_ || state_ != RelayState::kRunning) return;
  if (!page) {
    store_error_ = page.error();
    read_not_before_ = now + read_backoff_.next(uniform_);
    if (page.error().error_class == base::ErrorClass::kLostPlace) return forget(page.error().message);
    if (again && again->origin == Flight::Origin::kReleased) {
      released_out_ = 0;
    } else if (again) {
      for (const auto& [seq, ordinal] : again->rows) outbound_.defer(again->gate, ordinal);
      outbound_.wanted_done(again->gate);
    }
    return;
  }
  read_backoff_.reset();
  store_error_.reset();
  outbound_.clock(page->db_now_micros, now);
  again ? again_read(std::move(*page), *again) : page_read(std::move(*page), now);
  pump(now);
}

void Relay::page_read(model::Page page, base::Instant now) {
  read_from_ = page.next;
  counters_.read += static_cast<std::int64_t>(page.rows.size());
  caught_up_ = !page.more;
  if (page.rows.empty()) {
    page.more ? pace_.found_rows() : pace_.found_nothing(now);
  } else {
    std::size_t bytes = 0;
    for (const model::Row& row : page.rows) bytes += row.bytes();
    average_row_ = bytes / page.rows.size();
    page.more ? pace_.found_rows() : pace_.found_some_now_wait(now);
  }
  const Ordinal first = window_.append(page);
  if (page.rows.empty()) return;
  Batch batch;
  batch.ordinals.resize(page.rows.size());
  for (std::size_t i = 0; i < page.rows.size(); ++i) batch.ordinals[i] = first + i;
  batch.page = std::move(page);
  batches_.push_back(std::move(batch));
}

void Relay::again_read(model::Page page, const Again& again) {
  counters_.read_again += static_cast<std::int64_t>(page.rows.size());
  Batch batch;
  batch.origin = again.origin;
  if (again.origin == Flight::Origin::kLane) batch.gate = again.gate;
  std::size_t found = 0;
  for (const auto& [seq, ordinal] : again.rows) {
    if (found < page.rows.size() && page.rows[found].seq == seq) {
      batch.ordinals.push_back(ordinal);
      ++found;
    } else if (page.more && found == page.rows.size()) {
      // Cut off by the limits: it waits on.
      if (again.origin == Flight::Origin::kLane)
        outbound_.defer(again.gate, ordinal);
      else
        --released_out_;
    } else if (again.origin == Flight::Origin::kLane) {
      window_.finish(ordinal);  // gone from the table: nothing is left to send
    } else {
      --released_out_;
      released_done_.push_back(seq);
    }
  }
  batch.page = std::move(page);
  // Sending follows reading order, which is not always the order of seq across frames.
  if (again.origin == Flight::Origin::kLane) {
    std::vector<std::pair<Ordinal, model::Row>> rows;
    for (std::size_t i = 0; i < found; ++i) rows.emplace_back(batch.ordinals[i], batch.page.rows[i]);
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < found; ++i) std::tie(batch.ordinals[i], batch.page.rows[i]) = rows[i];
  }
  asides_.push_back(std::move(batch));
}

// ---- sending -------------------------------------------------------------------------------------------------------

void Relay::pump(base::Instant now) {
  if (state_ != RelayState::kRunning || paused_) return;
  for (auto at = asides_.begin(); at != asides_.end();) {
    if (!pump_batch(*at, now)) {
      ++at;
      continue;
    }
    if (at->gate) outbound_.wanted_done(*at->gate);
    at = asides_.erase(at);
  }
  while (!batches_.empty() && pump_batch(batches_.front(), now)) batches_.pop_front();
}

bool Relay::pump_batch(Batch& batch, base::Instant now) {
  const bool in_order = batch.origin == Flight::Origin::kLane && !batch.gate;
  for (; !batch.done(); ++batch.next) {
    if (in_order && held_by_ahead()) return false;
    const model::Row& row = batch.page.rows[batch.next];
    const Ordinal ordinal = batch.ordinals[batch.next];
    if (batch.origin == Flight::Origin::kLane && key_stop_.stops(row)) {
      settle(stopped(row), batch.origin, ordinal);
      continue;
    }
    const Offer offer{&row, batch.page.db_now_micros, batch.origin, ordinal, batch.gate};
    switch (outbound_.offer(offer, now)) {
      case Placement::kSent: continue;
      case Placement::kDeferred: continue;
      case Placement::kBlocked: return false;
      case Placement::kSettle: settle(outbound_.settlement(), batch.origin, ordinal); continue;
    }
  }
  return true;
}

model::Settlement Relay::stopped(const model::Row& row) {
  model::Settlement settlement;
  settlement.seq = row.seq;
  settlement.id = row.id;
  settlement.key = std::string(*row.aggregate_id);
  settlement.type = row.type;
  settlement.bytes = static_cast<std::int64_t>(row.payload ? row.payload->size() : 0);
  settlement.verdict = model::Verdict::kStopped;
  settlement.reason = "an earlier event of its key was set aside";
  settlement.who = "relay";
  return settlement;
}

void Relay::settle(model::Settlement settlement, Flight::Origin origin, Ordinal ordinal) {
  key_stop_.set_aside(settlement);
  if (settlement.verdict == model::Verdict::kSetAside) ++counters_.set_aside;
  Unrecorded unrecorded{std::move(settlement), std::nullopt};
  if (origin == Flight::Origin::kLane) {
    unrecorded.ordinal = ordinal;
  } else {
    --released_out_;
  }
  unrecorded_.push_back(std::move(unrecorded));
}

void Relay::finished(const Flight& flight) {
  ++counters_.published;
  counters_.published_bytes += flight.bytes;
  ++unsaved_published_;
  if (flight.origin == Flight::Origin::kLane) {
    window_.finish(flight.ordinal);
  } else {
    --released_out_;
    released_done_.push_back(static_cast<std::int64_t>(flight.ordinal));
  }
}

void Relay::sink_events(const ports::SinkEvents& events, base::Instant now) {
  for (ports::TopicId topic : events.topics) outbound_.topic_changed(topic, now);
  bool lost = false;
  for (const ports::Delivery& delivery : events.deliveries) {
    Answer answer = outbound_.answered(delivery, now);
    switch (answer.kind) {
      case Answer::Kind::kFinished: finished(answer.flight); break;
      case Answer::Kind::kForget: lost = true; break;
      case Answer::Kind::kWaits:
        if (answer.flight.origin == Flight::Origin::kReleased) --released_out_;
        break;
      case Answer::Kind::kStale: break;
    }
  }
  if ((lost || events.rebuilt) && state_ != RelayState::kStandby) {
    forget(events.rebuilt ? "the producer was rebuilt: " + events.rebuilt_reason : "some records may not have arrived");
  }
  pump(now);
}

// ---- the ledger ----------------------------------------------------------------------------------------------------

LedgerRequest Relay::ledger_request(LedgerRequest::Kind kind) {
  LedgerRequest request;
  request.kind = kind;
  request.fence = fence_;
  ledger_out_ = true;
  ledger_life_ = life_;
  return request;
}

std::optional<LedgerRequest> Relay::next_ledger(base::Instant now) {
  if (state_ == RelayState::kStandby || ledger_out_ || now < ledger_not_before_) return std::nullopt;
  if (state_ == RelayState::kLoading) {
    const bool keys_first = key_stop_.enabled() && !keys_known_;
    return ledger_request(keys_first ? LedgerRequest::Kind::kHeldKeys : LedgerRequest::Kind::kLoad);
  }
  if (!unrecorded_.empty()) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kRecord);
    recording_ = unrecorded_.size();
    for (const Unrecorded& u : unrecorded_) request.settlements.push_back(u.settlement);
    return request;
  }
  if (auto save = save_request(now)) return save;
  if (!released_done_.empty()) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kFinish);
    request.seqs = released_done_;
    finishing_ = released_done_.size();
    return request;
  }
  if (state_ != RelayState::kRunning || released_out_ > 0 || !released_.empty()) return std::nullopt;
  if (auto key = key_stop_.to_release(); key && none_released_) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kReleaseKey);
    request.key = *key;
    return request;
  }
  if (now < released_due_) return std::nullopt;
  released_due_ = now + kReleasedEvery;
  return ledger_request(LedgerRequest::Kind::kReleased);
}

std::optional<LedgerRequest> Relay::save_request(base::Instant now) {
  if (window_.position() == saved_ && unsaved_published_ == 0) return std::nullopt;
  const bool much = unsaved_published_ >= options_.save_rows || state_ == RelayState::kDraining;
  const bool rows_passed = unsaved_published_ > 0 || unsaved_recorded_ || window_.position().last_seq;
  const base::Duration every = rows_passed ? options_.save_every : kIdleSaveEvery;
  if (!much && base::elapsed(last_save_, now) < every) return std::nullopt;
  LedgerRequest request = ledger_request(LedgerRequest::Kind::kSave);
  saving_ = window_.position();
  saving_published_ = unsaved_published_;
  request.save.progress.live = saving_;
  request.save.published = saving_published_;
  if (options_.marks_rows) {
    auto finished = window_.take_finished();
    saving_finished_.insert(saving_finished_.end(), finished.begin(), finished.end());
    std::sort(saving_finished_.begin(), saving_finished_.end());
    request.save.finished = saving_finished_;
  }
  last_save_ = now;
  return request;
}

void Relay::ledger_done(const LedgerAnswer& answer, base::Instant now) {
  ledger_out_ = false;
  if (ledger_life_ != life_ || state_ == RelayState::kStandby) return;
  if (!answer.status) return ledger_failed(answer.status.error(), now);
  ledger_backoff_.reset();
  switch (answer.kind) {
    case LedgerRequest::Kind::kHeldKeys:
      key_stop_.held(answer.keys);
      keys_known_ = true;
      break;
    case LedgerRequest::Kind::kLoad: loaded(answer.loaded, now); break;
    case LedgerRequest::Kind::kSave:
      saved_ = saving_;
      unsaved_recorded_ = false;
      ++counters_.saves;
      unsaved_published_ -= std::exchange(saving_published_, 0);
      saving_finished_.clear();
      break;
    case LedgerRequest::Kind::kRecord:
      for (std::size_t i = 0; i < recording_; ++i) {
        if (unrecorded_[i].ordinal) window_.finish(*unrecorded_[i].ordinal);
      }
      unrecorded_.erase(unrecorded_.begin(), unrecorded_.begin() + static_cast<std::ptrdiff_t>(recording_));
      recording_ = 0;
      unsaved_recorded_ = true;
      break;
    case LedgerRequest::Kind::kFinish:
      released_done_.erase(released_done_.begin(), released_done_.begin() + static_cast<std::ptrdiff_t>(finishing_));
      finishing_ = 0;
      break;
    case LedgerRequest::Kind::kReleased:
      for (const model::Settlement& s : answer.released) {
        released_.push_back(s.seq);
        if (s.key) key_stop_.released(*s.key);
      }
      released_out_ = released_.size();
      none_released_ = released_.empty();
      break;
    case LedgerRequest::Kind::kReleaseKey: key_released(answer.count, now); break;
  }
}

void Relay::ledger_failed(const base::Error& error, base::Instant now) {
  store_error_ = error;
  ledger_not_before_ = now + ledger_backoff_.next(uniform_);
  recording_ = finishing_ = 0;
  if (error.error_class == base::ErrorClass::kLostPlace) forget(error.message);
  if (error.error_class == base::ErrorClass::kLostLease) lease_lost();
}

void Relay::loaded(const ports::Loaded& loaded, base::Instant now) {
  fence_.incarnation = loaded.incarnation;
  window_ = Window(loaded.progress.live);
  window_.collect_finished(options_.marks_rows);
  read_from_ = saved_ = loaded.progress.live;
  last_save_ = now;
  released_due_ = now;
  store_error_.reset();
  pace_.hint();
  state_ = RelayState::kRunning;
}

void Relay::key_released(std::int64_t count, base::Instant now) {
  if (count > 0) {
    none_released_ = false;
    released_due_ = now;
    return;
  }
  const auto key = key_stop_.to_release();
  if (!key) return;
  // Rows of the key may have been recorded while the question was out; then it is asked again.
  const bool more =
      std::any_of(unrecorded_.begin(), unrecorded_.end(), [&](const Unrecorded& u) { return u.settlement.key == key; });
  if (!more) key_stop_.free(*key);
}

// ---- time ----------------------------------------------------------------------------------------------------------

base::Instant Relay::next_wake(base::Instant now) const {
  // Stalls, topics that are over, and the ledger's small duties are a matter of tens of milliseconds.
  base::Instant wake = now + std::chrono::milliseconds(100);
  if (state_ == RelayState::kRunning && !read_out_ && !paused_ && room_to_read()) {
    wake = std::min(wake, std::max(pace_.next(), read_not_before_));
  }
  if (!ledger_out_ && unsaved_published_ > 0) {
    wake = std::min(wake, std::max(last_save_ + options_.save_every, ledger_not_before_));
  }
  return std::max(wake, now);
}

}  // namespace spillway::relay
