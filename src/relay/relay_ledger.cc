// What the relay writes to the ledger and learns from it.
#include <algorithm>
#include <utility>

#include "relay/relay.h"

namespace spillway::relay {
namespace {

constexpr std::size_t kReleasedAtOnce = 500;
constexpr std::size_t kReleasedMost = 10'000;  // known and not finished
constexpr std::size_t kRecordedAtOnce = 5'000;
constexpr base::Duration kReleasedEvery = std::chrono::seconds(1);
// The place also moves while no row arrives; saving that is only a matter of a quick start.
constexpr base::Duration kIdleSaveEvery = std::chrono::seconds(30);
// A downstream that was away for longer may come back as another.
constexpr std::int64_t kCapacityHoldsMicros = 600'000'000;

}  // namespace

bool Relay::moved_since_save(const ports::Progress& progress) const {
  return progress.live != saved_.live || progress.backlog != saved_.backlog;
}

// Pages of backlog whose settlements are all on record; the place up to which they reach goes with the next save.
bool Relay::verdicts_to_save() const {
  return std::ranges::any_of(lanes_.backlog(), [this](const Interval& interval) {
    const auto& batches = interval.lane().batches();
    const auto waiting = std::ranges::find(batches, false, &Batch::ready);
    return waiting != batches.end() && waiting->verdicts <= unrecorded_.recorded_so_far();
  });
}

void Relay::judgements_recorded() {
  for (Interval& interval : lanes_.backlog()) {
    for (const Batch& batch : interval.lane().batches()) {
      if (!batch.ready && batch.verdicts <= unrecorded_.recorded_so_far()) {
        interval.judged_up_to(batch.page.frame, batch.page.rows.back().seq);
      }
    }
  }
}

void Relay::verdicts_saved() {
  for (Interval& interval : lanes_.backlog()) {
    for (Batch& batch : interval.lane().batches()) {
      batch.ready = batch.ready || interval.judged(batch.page.frame, batch.page.rows.back().seq);
    }
  }
}

LedgerRequest Relay::held_keys_request(base::Instant now) {
  LedgerRequest request = ledger_request(LedgerRequest::Kind::kHeldKeys, now);
  request.holds = key_stop_.holds();
  return request;
}

LedgerRequest Relay::ledger_request(LedgerRequest::Kind kind, base::Instant now) {
  LedgerRequest request;
  request.kind = kind;
  request.fence = fence_;
  ledger_.ask(kind, now);
  return request;
}

std::optional<LedgerRequest> Relay::next_ledger(base::Instant now) {
  if (state_ == RelayState::kStandby || !ledger_.may_ask(now)) return std::nullopt;
  if (state_ == RelayState::kLoading) {
    return !keys_known_ ? held_keys_request(now) : ledger_request(LedgerRequest::Kind::kLoad, now);
  }
  if (!unrecorded_.empty() && splits_ == saved_splits_) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kRecord, now);
    request.settlements = unrecorded_.to_record(kRecordedAtOnce);
    return request;
  }
  if (auto save = save_request(now)) return save;
  return released_request(now);
}

std::optional<LedgerRequest> Relay::released_request(base::Instant now) {
  if (!released_.finished().empty()) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kFinish, now);
    request.seqs = released_.finished();
    finishing_ = request.seqs.size();
    return request;
  }
  if (state_ != RelayState::kRunning || placing_released()) return std::nullopt;
  if (lanes_.backlog().empty() && !keys_to_check_.empty()) keys_to_release_ = std::exchange(keys_to_check_, {});
  if (!keys_to_release_.empty()) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kReleaseKeys, now);
    request.keys = std::exchange(keys_to_release_, {});
    return request;
  }
  if (now >= released_due_ && released_.size() < kReleasedMost) {
    released_due_ = now + kReleasedEvery;
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kReleased, now);
    request.limit = released_.size() + kReleasedAtOnce;
    return request;
  }
  if (!keys_known_ || (key_stop_.size() > 0 && now >= keys_due_)) return held_keys_request(now);
  return std::nullopt;
}

std::optional<LedgerRequest> Relay::save_request(base::Instant now) {
  const bool verdicts = verdicts_to_save();
  // Reading stops where as many are unsaved as may be sent again.
  const auto most =
      std::min(options_.save_rows, std::max<std::int64_t>(1, static_cast<std::int64_t>(options_.ahead / 2)));
  const bool much =
      unsaved_published_ >= most || state_ == RelayState::kDraining || splits_ != saved_splits_ || verdicts;
  const bool rows_passed = unsaved_published_ > 0 || unsaved_recorded_ || lanes_.live().window().position().last_seq;
  const base::Duration every = rows_passed ? options_.save_every : kIdleSaveEvery;
  if (!much && base::elapsed(last_save_, now) < every) return std::nullopt;
  if (verdicts) judgements_recorded();
  ports::Progress progress = lanes_.progress();
  const bool owed = unsaved_published_ > 0 || splits_ != saved_splits_ || verdicts;
  if (!owed && !moved_since_save(progress)) return std::nullopt;
  LedgerRequest request = ledger_request(LedgerRequest::Kind::kSave, now);
  saving_ = std::move(progress);
  saving_.read_up_to_unix_micros = reach_.read_up_to_unix_micros();
  saving_.capacity = capacity_;
  saving_published_ = unsaved_published_;
  saving_splits_ = splits_;
  request.save.progress = saving_;
  request.save.published = saving_published_;
  saving_acknowledged_ = acknowledged_.size();
  request.save.finished = acknowledged_;
  std::ranges::sort(request.save.finished);
  last_save_ = now;
  return request;
}

void Relay::ledger_done(const LedgerAnswer& answer, base::Instant now) {
  if (!ledger_.answered() || state_ == RelayState::kStandby) return;
  if (!answer.status) return ledger_failed(answer.status.error(), now);
  ledger_.succeeded();
  switch (answer.kind) {
    case LedgerRequest::Kind::kHeldKeys: keys_held(answer.keys, now); break;
    case LedgerRequest::Kind::kLoad: loaded(answer.loaded, now); break;
    case LedgerRequest::Kind::kSave:
      saved_ = saving_;
      saved_splits_ = saving_splits_;
      verdicts_saved();
      unsaved_recorded_ = false;
      ++counters_.saves;
      unsaved_published_ -= std::exchange(saving_published_, 0);
      acknowledged_.erase(acknowledged_.begin(),
                          acknowledged_.begin() + static_cast<std::ptrdiff_t>(saving_acknowledged_));
      break;
    case LedgerRequest::Kind::kRecord:
      for (const Unrecorded::Row& row : unrecorded_.recorded()) recorded(row.settlement.seq, row.ordinal);
      unsaved_recorded_ = true;
      break;
    case LedgerRequest::Kind::kFinish:
      released_.told(std::exchange(finishing_, 0));
      keys_due_ = now;
      break;
    case LedgerRequest::Kind::kReleased: {
      const std::size_t known = released_.size();
      for (const model::Settlement& settlement : answer.released) released_.add(settlement);
      if (released_.size() >= known + kReleasedAtOnce) released_due_ = now;  // there are more
      // What stands in front of them may have changed with them.
      if (released_.has_unread()) keys_known_ = !key_stop_.enabled();
      break;
    }
    case LedgerRequest::Kind::kReleaseKeys:
      if (answer.count > 0) released_due_ = now;
      break;
  }
}

void Relay::ledger_failed(const base::Error& error, base::Instant now) {
  store_error_ = error;
  ledger_.failed(now, uniform_);
  finishing_ = 0;
  if (error.error_class == base::ErrorClass::kLostPlace) forget(error.message);
  if (error.error_class == base::ErrorClass::kLostLease) lease_lost();
}

void Relay::loaded(const ports::Loaded& loaded, base::Instant now) {
  fence_.incarnation = loaded.incarnation;
  lanes_ = Lanes(loaded.progress);
  saved_ = loaded.progress;
  reach_.loaded(saved_.read_up_to_unix_micros, loaded.db_now_micros, now);
  const std::int64_t away_micros = loaded.db_now_micros - saved_.read_up_to_unix_micros;
  capacity_ = away_micros <= kCapacityHoldsMicros ? saved_.capacity : 0;
  last_save_ = now;
  released_due_ = now;
  keys_due_ = now + kReleasedEvery;
  store_error_.reset();
  pace_.hint();
  state_ = RelayState::kRunning;
}

void Relay::keys_held(const std::vector<ports::HeldKey>& keys, base::Instant now) {
  key_stop_.held(keys);
  for (const Unrecorded::Row& row : unrecorded_.rows()) key_stop_.recording(row.settlement);
  keys_to_check_ = key_stop_.to_release();
  keys_known_ = true;
  // Many that wait are looked through less often: it must not become the ledger's main work.
  keys_due_ = now + std::max(kReleasedEvery, 20 * base::elapsed(ledger_.asked_at(), now));
}

}  // namespace spillway::relay
