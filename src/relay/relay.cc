#include "relay/relay.h"

#include <algorithm>
#include <cassert>

namespace spillway::relay {
namespace {

constexpr std::size_t kMaxPageRows = 5'000;
constexpr std::size_t kPagesAhead = 2;
constexpr std::size_t kReleasedAtOnce = 500;
constexpr std::size_t kReleasedMost = 10'000;  // known and not finished
constexpr std::size_t kRecordedAtOnce = 500;
constexpr std::size_t kUnrecordedMost = 2'000;  // a topic that is refused must not fill memory with its rows
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
  if (ledger_out_ || outbound_.in_flight() > 0) return false;
  if (state_ == RelayState::kStandby) return true;
  return state_ == RelayState::kDraining && unrecorded_.empty() && released_.finished().empty() &&
         unsaved_published_ == 0 && window_.position() == saved_;
}

void Relay::forget(std::string why) {
  forgot_because_ = std::move(why);
  outbound_.forget();
  batches_.clear();
  asides_.clear();
  window_ = Window();
  unrecorded_.clear();
  recording_ = finishing_ = 0;
  released_.forget();
  keys_to_release_.clear();
  unsaved_published_ = saving_published_ = 0;
  acknowledged_.clear();
  caught_up_ = unsaved_recorded_ = false;
  lane_ends_ = 0;
  keys_known_ = !key_stop_.enabled();
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
  if (may_read_released()) {
    again.rows = released_.take_unread(kReleasedAtOnce);
  } else if (auto wanted = outbound_.wanted(now)) {
    again.gate = wanted->gate;
    again.rows = std::move(wanted->rows);
  } else {
    return std::nullopt;
  }
  ReadRequest request;
  request.kind = ReadRequest::Kind::kAgain;
  for (const Waiting& row : again.rows) request.seqs.push_back(row.seq);
  request.incarnation = fence_.incarnation;
  request.limits = {again.rows.size(), page_bytes()};
  again_out_ = std::move(again);
  read_out_ = true;
  reading_life_ = life_;
  return request;
}

bool Relay::may_read_released() const {
  if (!released_.has_unread() || !keys_known_) return false;
  // One batch at a time: a second one could overtake what waits in the first.
  if (placing_released()) return false;
  // What the ledger is being asked must not change under the rows that are judged by it.
  using Kind = LedgerRequest::Kind;
  if (ledger_out_ == Kind::kHeldKeys || ledger_out_ == Kind::kReleaseKey || ledger_out_ == Kind::kReleased)
    return false;
  // What stopped behind its key in an earlier life follows the rows that are read again now. The first end may be that
  // of a frame from before; the second is later than all that was recorded then.
  return !key_stop_.enabled() || (lane_ends_ >= 2 && batches_.empty());
}

// Whether released rows that were never read are on their way to their gates.
bool Relay::placing_released() const {
  return (again_out_ && !again_out_->gate) ||
         std::ranges::any_of(asides_, [](const Batch& aside) { return !aside.gate; });
}

void Relay::put_back(const Again& again, const Waiting& row) {
  again.gate ? outbound_.defer(*again.gate, row) : released_.put_back(row.seq);
}

void Relay::read_done(base::Result<model::Page> page, base::Instant now) {
  read_out_ = false;
  const std::optional<Again> again = std::exchange(again_out_, std::nullopt);
  if (reading_life_ != life_ || state_ != RelayState::kRunning) return;
  if (!page) {
    store_error_ = page.error();
    read_not_before_ = now + read_backoff_.next(uniform_);
    if (page.error().error_class == base::ErrorClass::kLostPlace) return forget(page.error().message);
    if (again) {
      for (const Waiting& row : again->rows) put_back(*again, row);
      if (again->gate) outbound_.wanted_done(*again->gate);
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
  lane_ends_ += caught_up_ && lane_ends_ < 2;
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
  batch.in_order = true;
  batch.ordinals.resize(page.rows.size());
  for (std::size_t i = 0; i < page.rows.size(); ++i) batch.ordinals[i] = first + i;
  batch.page = std::move(page);
  batches_.push_back(std::move(batch));
}

void Relay::again_read(model::Page page, const Again& again) {
  counters_.read_again += static_cast<std::int64_t>(page.rows.size());
  Batch batch;
  batch.gate = again.gate;
  std::size_t found = 0;
  for (const Waiting& row : again.rows) {
    if (found < page.rows.size() && page.rows[found].seq == row.seq) {
      batch.ordinals.push_back(row.ordinal);
      ++found;
    } else if (page.more && found == page.rows.size()) {
      put_back(again, row);  // cut off by the limits: it waits on
    } else if (Released::is(row.ordinal)) {
      released_.finish(row.seq);  // gone from the table: nothing is left to send
    } else {
      window_.finish(row.ordinal);
    }
  }
  batch.page = std::move(page);
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
  for (; !batch.done(); ++batch.next) {
    if ((batch.in_order && held_by_ahead()) || unrecorded_.size() >= kUnrecordedMost) return false;
    const model::Row& row = batch.page.rows[batch.next];
    const Ordinal ordinal = batch.ordinals[batch.next];
    if (key_stop_.stops(row, Released::is(ordinal))) {
      settle(stopped(row), ordinal);
      continue;
    }
    switch (outbound_.offer({&row, batch.page.db_now_micros, ordinal, batch.gate}, now)) {
      case Placement::kSent: continue;
      case Placement::kDeferred: continue;
      case Placement::kBlocked: return false;
      case Placement::kSettle: settle(outbound_.settlement(), ordinal); continue;
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

void Relay::settle(model::Settlement settlement, Ordinal ordinal) {
  key_stop_.recording(settlement);
  if (settlement.verdict == model::Verdict::kSetAside) ++counters_.set_aside;
  unrecorded_.push_back({std::move(settlement), ordinal});
}

void Relay::finished(const Flight& flight) {
  ++counters_.published;
  counters_.published_bytes += flight.bytes;
  ++unsaved_published_;
  if (options_.marks_rows) acknowledged_.push_back(flight.seq);
  Released::is(flight.ordinal) ? released_.finish(flight.seq) : window_.finish(flight.ordinal);
}

void Relay::sink_events(const ports::SinkEvents& events, base::Instant now) {
  for (ports::TopicId topic : events.topics) outbound_.topic_changed(topic, now);
  bool lost = false;
  for (const ports::Delivery& delivery : events.deliveries) {
    const Answer answer = outbound_.answered(delivery, now);
    if (answer.kind == Answer::Kind::kFinished) finished(answer.flight);
    lost = lost || answer.kind == Answer::Kind::kForget;
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
  ledger_out_ = kind;
  ledger_life_ = life_;
  return request;
}

std::optional<LedgerRequest> Relay::next_ledger(base::Instant now) {
  if (state_ == RelayState::kStandby || ledger_out_ || now < ledger_not_before_) return std::nullopt;
  if (state_ == RelayState::kLoading) {
    return ledger_request(!keys_known_ ? LedgerRequest::Kind::kHeldKeys : LedgerRequest::Kind::kLoad);
  }
  if (!unrecorded_.empty()) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kRecord);
    recording_ = std::min(unrecorded_.size(), kRecordedAtOnce);
    for (std::size_t i = 0; i < recording_; ++i) request.settlements.push_back(unrecorded_[i].settlement);
    return request;
  }
  if (auto save = save_request(now)) return save;
  return released_request(now);
}

std::optional<LedgerRequest> Relay::released_request(base::Instant now) {
  if (!released_.finished().empty()) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kFinish);
    request.seqs = released_.finished();
    finishing_ = request.seqs.size();
    return request;
  }
  if (state_ != RelayState::kRunning || placing_released()) return std::nullopt;
  if (!keys_to_release_.empty()) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kReleaseKey);
    request.key = std::move(keys_to_release_.back());
    keys_to_release_.pop_back();
    return request;
  }
  if (now >= released_due_ && released_.size() < kReleasedMost) {
    released_due_ = now + kReleasedEvery;
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kReleased);
    request.limit = released_.size() + kReleasedAtOnce;
    return request;
  }
  if (!keys_known_ || (key_stop_.size() > 0 && now >= keys_due_)) return ledger_request(LedgerRequest::Kind::kHeldKeys);
  return std::nullopt;
}

std::optional<LedgerRequest> Relay::save_request(base::Instant now) {
  if (window_.position() == saved_ && unsaved_published_ == 0) return std::nullopt;
  // Reading stops where as many are unsaved as may be sent again.
  const auto most =
      std::min(options_.save_rows, std::max<std::int64_t>(1, static_cast<std::int64_t>(options_.ahead / 2)));
  const bool much = unsaved_published_ >= most || state_ == RelayState::kDraining;
  const bool rows_passed = unsaved_published_ > 0 || unsaved_recorded_ || window_.position().last_seq;
  const base::Duration every = rows_passed ? options_.save_every : kIdleSaveEvery;
  if (!much && base::elapsed(last_save_, now) < every) return std::nullopt;
  LedgerRequest request = ledger_request(LedgerRequest::Kind::kSave);
  saving_ = window_.position();
  saving_published_ = unsaved_published_;
  request.save.progress.live = saving_;
  request.save.published = saving_published_;
  saving_acknowledged_ = acknowledged_.size();
  request.save.finished = acknowledged_;
  std::ranges::sort(request.save.finished);
  last_save_ = now;
  return request;
}

void Relay::ledger_done(const LedgerAnswer& answer, base::Instant now) {
  ledger_out_.reset();
  if (ledger_life_ != life_ || state_ == RelayState::kStandby) return;
  if (!answer.status) return ledger_failed(answer.status.error(), now);
  ledger_backoff_.reset();
  switch (answer.kind) {
    case LedgerRequest::Kind::kHeldKeys: keys_held(answer.keys, now); break;
    case LedgerRequest::Kind::kLoad: loaded(answer.loaded, now); break;
    case LedgerRequest::Kind::kSave:
      saved_ = saving_;
      unsaved_recorded_ = false;
      ++counters_.saves;
      unsaved_published_ -= std::exchange(saving_published_, 0);
      acknowledged_.erase(acknowledged_.begin(),
                          acknowledged_.begin() + static_cast<std::ptrdiff_t>(saving_acknowledged_));
      break;
    case LedgerRequest::Kind::kRecord:
      for (std::size_t i = 0; i < recording_; ++i) {
        const auto& [settlement, ordinal] = unrecorded_[i];
        Released::is(ordinal) ? released_.recorded(settlement.seq) : window_.finish(ordinal);
      }
      unrecorded_.erase(unrecorded_.begin(), unrecorded_.begin() + static_cast<std::ptrdiff_t>(recording_));
      recording_ = 0;
      unsaved_recorded_ = true;
      break;
    case LedgerRequest::Kind::kFinish:
      released_.told(std::exchange(finishing_, 0));
      keys_due_ = now;
      break;
    case LedgerRequest::Kind::kReleased:
      for (const model::Settlement& settlement : answer.released) released_.add(settlement.seq);
      // What stands in front of them may have changed with them.
      if (released_.has_unread()) keys_known_ = !key_stop_.enabled();
      break;
    case LedgerRequest::Kind::kReleaseKey:
      if (answer.count > 0) released_due_ = now;
      break;
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
  read_from_ = saved_ = loaded.progress.live;
  last_save_ = now;
  released_due_ = now;
  keys_due_ = now + kReleasedEvery;
  store_error_.reset();
  pace_.hint();
  state_ = RelayState::kRunning;
}

void Relay::keys_held(const std::vector<ports::HeldKey>& keys, base::Instant now) {
  key_stop_.held(keys);
  for (const Unrecorded& unrecorded : unrecorded_) key_stop_.recording(unrecorded.settlement);
  keys_to_release_ = key_stop_.to_release();
  keys_known_ = true;
  keys_due_ = now + kReleasedEvery;
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
