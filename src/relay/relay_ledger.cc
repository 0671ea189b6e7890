// What the relay writes to the ledger and learns from it.
#include <algorithm>
#include <utility>

#include "relay/relay.h"

namespace spillway::relay {
namespace {

constexpr std::size_t kRecordedAtOnce = 5'000;
// A downstream that was away for longer may come back as another.
constexpr std::int64_t kCapacityHoldsMicros = 600'000'000;

}  // namespace

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
    return !key_stop_.known() ? held_keys_request(now) : ledger_request(LedgerRequest::Kind::kLoad, now);
  }
  // Rows are recorded as waiting for backlog only when it is on record that this is backlog.
  if (!unrecorded_.empty() && saves_.splits_saved()) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kRecord, now);
    request.settlements = unrecorded_.to_record(kRecordedAtOnce);
    return request;
  }
  if (auto save = save_request(now)) return save;
  return released_request(now);
}

std::optional<LedgerRequest> Relay::released_request(base::Instant now) {
  if (released_.has_to_tell()) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kFinish, now);
    request.seqs = released_.to_tell();
    return request;
  }
  if (state_ != RelayState::kRunning || released_.placing()) return std::nullopt;
  if (lanes_.backlog().empty()) free_keys_.all_free();
  if (auto keys = free_keys_.take_free(); !keys.empty()) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kReleaseKeys, now);
    request.keys = std::move(keys);
    return request;
  }
  if (released_.ask_due(now)) {
    LedgerRequest request = ledger_request(LedgerRequest::Kind::kReleased, now);
    request.limit = released_.ask(now);
    return request;
  }
  if (key_stop_.look_due(now)) return held_keys_request(now);
  return std::nullopt;
}

std::optional<LedgerRequest> Relay::save_request(base::Instant now) {
  const bool verdicts = lanes_.take_verdicts(unrecorded_.recorded_so_far());
  const bool within_frame = lanes_.live().window().position().last_seq.has_value();
  if (!saves_.due(verdicts || state_ == RelayState::kDraining, within_frame, now)) return std::nullopt;
  ports::Progress progress = lanes_.progress();
  progress.read_up_to_unix_micros = reach_.read_up_to_unix_micros();
  progress.capacity = capacity_;
  auto save = saves_.next(std::move(progress), verdicts, now);
  if (!save) return std::nullopt;
  LedgerRequest request = ledger_request(LedgerRequest::Kind::kSave, now);
  request.save = std::move(*save);
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
      saves_.saved();
      lanes_.verdicts_saved();
      ++counters_.saves;
      break;
    case LedgerRequest::Kind::kRecord:
      for (const Unrecorded::Row& row : unrecorded_.recorded()) recorded(row.settlement.seq, row.ordinal);
      saves_.recorded();
      break;
    case LedgerRequest::Kind::kFinish:
      released_.told();
      key_stop_.look_again(now);
      break;
    case LedgerRequest::Kind::kReleased:
      if (released_.answered(answer.released, now)) key_stop_.doubt();
      break;
    case LedgerRequest::Kind::kReleaseKeys:
      if (answer.count > 0) released_.ask_again(now);
      break;
  }
}

void Relay::ledger_failed(const base::Error& error, base::Instant now) {
  store_error_ = error;
  ledger_.failed(now, uniform_);
  if (error.error_class == base::ErrorClass::kLostPlace) forget(error.message);
  if (error.error_class == base::ErrorClass::kLostLease) lease_lost();
}

void Relay::loaded(const ports::Loaded& loaded, base::Instant now) {
  fence_.incarnation = loaded.incarnation;
  lanes_ = Lanes(loaded.progress);
  saves_.loaded(loaded.progress, now);
  reach_.loaded(loaded.progress.read_up_to_unix_micros, loaded.db_now_micros, now);
  const std::int64_t away_micros = loaded.db_now_micros - loaded.progress.read_up_to_unix_micros;
  capacity_ = away_micros <= kCapacityHoldsMicros ? loaded.progress.capacity : 0;
  released_.ask_again(now);
  key_stop_.look_again(now + KeyStop::kLookEvery);
  store_error_.reset();
  pace_.hint();
  state_ = RelayState::kRunning;
}

void Relay::keys_held(const std::vector<ports::HeldKey>& keys, base::Instant now) {
  key_stop_.held(keys, ledger_.asked_at(), now);
  for (const Unrecorded::Row& row : unrecorded_.rows()) key_stop_.recording(row.settlement);
  free_keys_.found(key_stop_.to_release());
  released_.keys_held(now);
}

}  // namespace spillway::relay
