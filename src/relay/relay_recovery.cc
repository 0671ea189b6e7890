// How a recovery begins: what is too late to be live becomes backlog.
#include <algorithm>
#include <utility>

#include "relay/relay.h"

namespace spillway::relay {

// No split while the governor holds live: what waits then is live, and stays so.
bool Relay::too_late(base::Instant now) const {
  return options_.lanes && !allowance_.live_is_held() && reach_.too_late(counters_.published, now);
}

bool Relay::recovery_due(base::Instant now) const {
  return stall_over_ || (!lanes_.live().batches().empty() && too_late(now));
}

// All that waits somewhere goes back to where it was read: live rows to what is left behind, backlog to its lane. What
// is on its way stays so, and the lanes pass it when they come to it.
void Relay::recover(base::Instant now) {
  put_back_reads();
  const std::vector<Ordinal> waited = put_back_waiting();
  const auto in = [](const Lane& lane) { return [&lane](Ordinal ordinal) { return lane.holds(ordinal); }; };
  const bool live = std::ranges::any_of(waited, in(lanes_.live())) || !stall_over_ || too_late(now);
  bool back = false;  // what was read of the later ones would only be in the way
  for (Interval& interval : lanes_.backlog()) {
    back = back || std::ranges::any_of(waited, in(interval.lane()));
    if (!back) continue;
    leave(interval.lane(), waited);
    lanes_.start_over(interval);
  }
  if (live) {
    leave(lanes_.live(), waited);
    split(now);
  }
  look_up_live_again();
  stall_over_ = false;
  promotion_.start_over();
  clear_keys_.more_backlog();
  released_.more_backlog();
  backlog_finished();
}

void Relay::split(base::Instant now) {
  lanes_.split(outbound_.db_now_micros(now));
  reach_.split(counters_.published, now);
  saves_.split();
  if (!lanes_.backlog().empty()) ++counters_.recoveries;
}

void Relay::put_back_reads() {
  const auto put_back_rest = [this](const Batch& aside) {
    for (std::size_t i = aside.next; i < aside.page.rows.size(); ++i) {
      put_back(aside.gate, {aside.page.rows[i].seq, aside.ordinals[i]});
    }
    if (aside.gate) outbound_.wanted_done(*aside.gate);
  };
  std::ranges::for_each(std::exchange(asides_, {}), put_back_rest);
  if (const auto& reading = read_.out(); reading) {
    put_back(reading->again);
    read_.forget();
  }
}

void Relay::look_up_live_again() {
  for (Batch& batch : lanes_.live().batches()) {
    if (!batch.ready) continue;
    for (std::size_t i = batch.next; i < batch.page.rows.size(); ++i) counters_.arrived_live -= !batch.waits_at(i);
    batch.ready = false;
    batch.waits.clear();
  }
}

// The places in lanes of the rows that are not on their way any more, in order.
std::vector<Ordinal> Relay::put_back_waiting() {
  std::vector<Waiting> rows = outbound_.take_waiting();
  for (const Batch& batch : std::exchange(promoted_, {})) {
    for (std::size_t i = batch.next; i < batch.page.rows.size(); ++i) {
      rows.push_back({batch.page.rows[i].seq, batch.ordinals[i]});
    }
  }
  std::vector<Ordinal> places;
  for (const Waiting& row : rows) {
    if (Released::is(row.ordinal)) {
      released_.put_back(row.seq);
    } else if (lanes_.holds(row.ordinal)) {
      places.push_back(row.ordinal);
    } else if (const auto met = went_ahead_.take_back(row.seq)) {
      places.push_back(*met);
    }
  }
  std::ranges::sort(places);
  return places;
}

// The lane is about to start over: what it has placed and does not wait, nor is on record, has gone ahead of it.
void Relay::leave(const Lane& lane, const std::vector<Ordinal>& waited) {
  const auto unplaced = lane.first_unplaced();
  lane.window().each([&](std::int64_t seq, Ordinal ordinal, Window::Row how) {
    if (how == Window::Row::kAcknowledged) went_ahead_.add_finished(seq);
    const bool placed = (!unplaced || ordinal < *unplaced) && !std::ranges::binary_search(waited, ordinal);
    if (how == Window::Row::kOpen && placed) went_ahead_.add(seq);
  });
  for (const Unrecorded::Row& row : unrecorded_.rows()) {
    if (lane.holds(row.ordinal)) went_ahead_.add(row.settlement.seq);
  }
}

// What has waited for a partition or a topic that long is backlog, unless the governor holds live.
void Relay::stalled(base::Duration stalled_for) {
  if (options_.lanes && stalled_for > options_.live_age) stall_over_ = stall_over_ || !allowance_.live_is_held();
}

}  // namespace spillway::relay
