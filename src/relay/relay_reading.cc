// What the relay reads next, and what becomes of what was read.
#include <algorithm>
#include <unordered_set>

#include "relay/relay.h"

namespace spillway::relay {
namespace {

constexpr std::size_t kMaxPageRows = 5'000;
constexpr std::size_t kPagesAhead = 2;
constexpr std::size_t kUnrecordedToRead = 10'000;
constexpr std::size_t kAsidesMost = 8;  // one that waits for a token must not keep the others out
constexpr std::size_t kReleasedAtOnce = 500;
constexpr std::size_t kKeysAtOnce = 500;
constexpr std::size_t kPromotedAtOnce = 1'000;

}  // namespace

std::size_t Relay::page_bytes() const {
  return std::clamp<std::size_t>(options_.outbound.bytes_in_flight / 8, 64 * 1024, 2 << 20);
}

// Together the lanes, and what went ahead of them, run ahead by no more than one would alone.
std::size_t Relay::ahead_of_a_lane() const {
  if (lanes_.backlog().empty()) return options_.ahead;
  const std::size_t left = options_.ahead - std::min(options_.ahead, went_ahead_.finished());
  return std::max<std::size_t>(1, left / 2);
}

bool Relay::room_in(const Lane& lane) const {
  return lane.batches().size() < kPagesAhead && lane.window().ahead() < ahead_of_a_lane() &&
         lane.window().open() < options_.ahead + options_.outbound.events_in_flight &&
         saves_.unsaved() < static_cast<std::int64_t>(options_.ahead);
}

std::optional<ReadRequest> Relay::next_read(base::Instant now) {
  if (state_ != RelayState::kRunning || paused_ || !read_.may_ask(now)) return std::nullopt;
  if (auto again = again_request(now)) return again;
  if (auto keys = keys_request(now)) return keys;
  if (room_in(lanes_.live()) && pace_.due(now)) {
    pace_.asked();
    return page_request(lanes_.live(), Purpose::kLive, kMaxPageRows, now);
  }
  if (auto promotion = promotion_request(now)) return promotion;
  return backlog_request(now);
}

ReadRequest Relay::read_request(ReadRequest::Kind kind, Reading reading, base::Instant now) {
  ReadRequest request;
  request.kind = kind;
  request.incarnation = fence_.incarnation;
  read_.ask(std::move(reading), now);
  return request;
}

ReadRequest Relay::page_request(const Lane& lane, Purpose purpose, std::size_t most_rows, base::Instant now) {
  ReadRequest request = read_request(ReadRequest::Kind::kPage, {.purpose = purpose}, now);
  request.from = lane.read_from();
  // Room for half as many again, so that a page of rows like the last ones is cut by rows and not by bytes.
  request.limits = {std::clamp<std::size_t>(page_bytes() * 2 / (average_row_ * 3 + 1), 16, most_rows), page_bytes()};
  return request;
}

std::optional<ReadRequest> Relay::backlog_request(base::Instant now) {
  Interval* interval = lanes_.to_read();
  if (interval == nullptr || backlog_paused_) return std::nullopt;
  if (lanes_.batches_behind() >= kPagesAhead || !room_in(interval->lane())) return std::nullopt;
  if (unrecorded_.size() >= kUnrecordedToRead) return std::nullopt;
  const std::size_t rows = allowance_.backlog_page(kMaxPageRows);
  if (rows == 0) return std::nullopt;
  ReadRequest request = page_request(interval->lane(), Purpose::kBacklog, rows, now);
  request.judge = options_.triage;
  request.as_of_unix_micros = interval->began_unix_micros();
  return request;
}

std::optional<ReadRequest> Relay::promotion_request(base::Instant now) {
  if (lanes_.backlog().empty()) {
    if (promotion_.has_to_read()) promotion_ = Promotion();
    return std::nullopt;
  }
  if (!promotion_.has_to_read() || backlog_paused_ || promoted_.size() >= kPagesAhead) return std::nullopt;
  if (went_ahead_.size() >= ahead_of_a_lane()) return std::nullopt;
  ReadRequest request = read_request(ReadRequest::Kind::kKeyRows, {.purpose = Purpose::kPromotion}, now);
  request.keys_after = promotion_.to_read(kKeysAtOnce);
  request.places = lanes_.unplaced_backlog();
  request.limits = {std::min(kPromotedAtOnce, ahead_of_a_lane() - went_ahead_.size()), page_bytes()};
  return request;
}

void Relay::promotion_read(model::Page page) {
  counters_.read += static_cast<std::int64_t>(page.rows.size());
  Batch batch = promotion_.take(std::move(page), went_ahead_);
  promotions_completed();
  if (!batch.done()) promoted_.push_back(std::move(batch));
}

void Relay::promotions_completed() {
  for (std::string& key : promotion_.take_completed()) free_keys_.free(std::move(key));
}

std::optional<ReadRequest> Relay::again_request(base::Instant now) {
  if (asides_.size() >= kAsidesMost) return std::nullopt;
  Again again;
  if (may_read_released()) again.rows = released_.take(kReleasedAtOnce, released_follow_backlog());
  if (again.rows.empty()) {
    auto wanted = outbound_.wanted(now);
    if (!wanted) return std::nullopt;
    again.gate = wanted->gate;
    again.rows = std::move(wanted->rows);
  }
  std::vector<std::int64_t> seqs;
  for (const Waiting& row : again.rows) seqs.push_back(row.seq);
  const ports::ReadLimits limits{again.rows.size(), page_bytes()};
  ReadRequest request =
      read_request(ReadRequest::Kind::kAgain, {.purpose = Purpose::kAgain, .again = std::move(again)}, now);
  request.seqs = std::move(seqs);
  request.limits = limits;
  return request;
}

Batch* Relay::unready_live() {
  auto& batches = lanes_.live().batches();
  const auto found = std::ranges::find(batches, false, &Batch::ready);
  return found == batches.end() ? nullptr : &*found;
}

ReadRequest Relay::keys_request(Reading reading, std::vector<model::Position> places, base::Instant now) {
  ReadRequest request = read_request(ReadRequest::Kind::kKeysBehind, std::move(reading), now);
  request.places = std::move(places);
  request.keys = read_.out()->keys;
  return request;
}

// Live rows must not overtake the backlog of their keys, nor must released ones; and what waits for it may go once it
// is finished.
std::optional<ReadRequest> Relay::keys_request(base::Instant now) {
  std::vector<ports::KeyBefore> keys;
  if (const Batch* batch = unready_live()) {
    keys = clear_keys_.others(batch->page);
    std::erase_if(keys, [this](const ports::KeyBefore& key) { return promotion_.complete(key.key); });
    return keys_request({Purpose::kKeysOfLive, std::move(keys)}, lanes_.unplaced_backlog(), now);
  }
  if (lanes_.backlog().empty()) return std::nullopt;
  if (released_follow_backlog() && may_read_released() && released_.look_up_due(now)) {
    return keys_request({Purpose::kKeysOfReleased, released_.to_look_up(kReleasedAtOnce)}, lanes_.unplaced_backlog(),
                        now);
  }
  while (keys.size() < kKeysAtOnce && free_keys_.has_unsure()) {
    std::string key = free_keys_.take_unsure();
    promotion_.complete(key) ? free_keys_.free(std::move(key)) : keys.push_back({std::move(key)});
  }
  if (keys.empty()) return std::nullopt;
  return keys_request({Purpose::kKeysToRelease, std::move(keys)}, lanes_.unfinished_backlog(), now);
}

void Relay::keys_behind_done(const base::Result<std::vector<std::size_t>>& found, base::Instant now) {
  const std::optional<Reading> reading = read_.answered();
  if (!reading || state_ != RelayState::kRunning) return;
  if (!found) return read_failed(found.error(), *reading, now);
  read_.succeeded();
  store_error_.reset();
  const auto& [purpose, keys, again] = *reading;
  std::vector<bool> behind(keys.size());
  for (std::size_t index : *found) behind[index] = true;
  if (purpose == Purpose::kKeysOfLive) live_keys_found(keys, behind);
  std::vector<std::int64_t> clear;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool went_first = purpose == Purpose::kKeysOfReleased && promotion_.complete(keys[i].key);
    if (behind[i] && promotes()) promotion_.want(keys[i].key);
    if (behind[i] && !went_first) continue;
    if (purpose == Purpose::kKeysToRelease) free_keys_.free(keys[i].key);
    if (purpose == Purpose::kKeysOfReleased) clear.push_back(keys[i].before);
  }
  if (purpose == Purpose::kKeysOfReleased) released_.looked_up(std::move(clear), now);
  pump(now);
}

void Relay::live_keys_found(const std::vector<ports::KeyBefore>& asked, const std::vector<bool>& behind) {
  Batch* batch = unready_live();
  if (batch == nullptr) return;
  batch->ready = true;
  counters_.arrived_live += static_cast<std::int64_t>(batch->left());
  std::unordered_set<std::string_view> keys;
  for (std::size_t i = 0; i < behind.size(); ++i) {
    if (behind[i]) keys.insert(asked[i].key);
    if (!behind[i]) clear_keys_.add(asked[i].key);
  }
  if (keys.empty()) return;
  batch->waits.resize(batch->page.rows.size());
  for (std::size_t i = batch->next; i < batch->waits.size(); ++i) {
    const auto& key = batch->page.rows[i].aggregate_id;
    batch->waits[i] = key && keys.contains(*key);
    counters_.arrived_live -= batch->waits[i];
  }
}

bool Relay::may_read_released() const {
  if (!released_.has_unread() || released_.placing() || !key_stop_.known()) return false;
  // What the ledger is being asked must not change under the rows that are judged by it.
  using Kind = LedgerRequest::Kind;
  const auto ledger = ledger_.out();
  if (ledger == Kind::kHeldKeys || ledger == Kind::kReleaseKeys || ledger == Kind::kReleased) return false;
  // What stopped behind its key in an earlier life follows the rows that are read again now.
  return !key_stop_.enabled() || (reach_.beyond_earlier_lives() && lanes_.live().batches().empty());
}

void Relay::put_back(std::optional<std::uint32_t> gate, const Waiting& row) {
  gate ? outbound_.defer(*gate, row) : released_.put_back(row.seq);
}

void Relay::put_back(const Again& again) {
  for (const Waiting& row : again.rows) put_back(again.gate, row);
  if (again.gate) outbound_.wanted_done(*again.gate);
}

void Relay::read_failed(const base::Error& error, const Reading& reading, base::Instant now) {
  store_error_ = error;
  read_.failed(now, uniform_);
  if (error.error_class == base::ErrorClass::kLostPlace) return forget(error.message);
  put_back(reading.again);
}

void Relay::read_done(base::Result<model::Page> page, base::Instant now, std::vector<ports::Judgement> judgements) {
  const std::optional<Reading> reading = read_.answered();
  if (!reading || state_ != RelayState::kRunning) return;
  if (!page) return read_failed(page.error(), *reading, now);
  read_.succeeded();
  store_error_.reset();
  outbound_.clock(page->db_now_micros, now);
  switch (reading->purpose) {
    case Purpose::kPromotion: promotion_read(std::move(*page)); break;
    case Purpose::kAgain: again_read(std::move(*page), reading->again); break;
    case Purpose::kBacklog: backlog_read(std::move(*page), std::move(judgements)); break;
    default: live_read(std::move(*page), now); break;
  }
  pump(now);
}

void Relay::note_rows(const model::Page& page) {
  counters_.read += static_cast<std::int64_t>(page.rows.size());
  std::size_t bytes = 0;
  for (const model::Row& row : page.rows) bytes += row.bytes();
  if (!page.rows.empty()) average_row_ = bytes / page.rows.size();
}

void Relay::live_read(model::Page page, base::Instant now) {
  if (lanes_.live().read_from().frame.to.empty()) reach_.frame_fixed(read_.asked_at(), page.db_now_micros);
  const bool late = too_late(now);
  note_rows(page);
  reach_.page_read(page.more);
  if (page.rows.empty()) {
    page.more ? pace_.found_rows() : pace_.found_nothing(now);
  } else {
    page.more ? pace_.found_rows() : pace_.found_some_now_wait(now);
  }
  Batch* batch = lanes_.live().take(std::move(page));
  if (batch != nullptr && late) return recover(now);
  if (batch == nullptr) return;
  batch->ready = lanes_.backlog().empty() || clear_keys_.cover(batch->page);
  if (batch->ready) counters_.arrived_live += static_cast<std::int64_t>(batch->left());
}

void Relay::backlog_read(model::Page page, std::vector<ports::Judgement> judgements) {
  note_rows(page);
  Interval* interval = lanes_.to_read();
  Batch* batch = interval == nullptr ? nullptr : interval->take(std::move(page));
  if (batch != nullptr && options_.triage) take_judgements(*interval, *batch, std::move(judgements));
  backlog_finished();
}

// A verdict holds once the ledger has it; that a row is to be published is on record as the place up to which rows were
// judged. Until then nothing of the page is sent. What was judged in an earlier life stays as it was.
void Relay::take_judgements(Interval& interval, Batch& batch, std::vector<ports::Judgement> judgements) {
  const model::Page& page = batch.page;
  for (ports::Judgement& judgement : judgements) {
    if (judgement.verdict == model::Verdict::kPublish) continue;
    const model::Row& row = page.rows[judgement.row];
    if (interval.judged(page.frame, row.seq) || went_ahead_.contains(row.seq)) continue;
    if (batch.settled.empty()) batch.settled.resize(page.rows.size());
    batch.settled[judgement.row] = true;
    const bool discard = judgement.verdict == model::Verdict::kDiscard;
    ++triaged_[{judgement.rule, judgement.verdict}];
    model::Settlement settlement = outbound_.describe(row, page.db_now_micros);
    settlement.verdict = judgement.verdict;
    // What goes to the reconcile topic is sent as the rows are that a person lets go.
    settlement.state = discard ? model::SettlementState::kDone : model::SettlementState::kReleased;
    settlement.rule = std::move(judgement.rule);
    settlement.reason = std::move(judgement.reason);
    settle(std::move(settlement), batch.ordinals[judgement.row]);
  }
  batch.verdicts = unrecorded_.added();
  batch.ready = interval.judged(page.frame, page.rows.back().seq);
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
      put_back(again.gate, row);  // cut off by the limits: it waits on
    } else {
      finish(row.seq, row.ordinal);  // gone from the table: nothing is left to send
    }
  }
  if (!again.gate) counters_.arrived_live += static_cast<std::int64_t>(page.rows.size());
  batch.page = std::move(page);
  asides_.push_back(std::move(batch));
}

}  // namespace spillway::relay
