#include "relay/outbound.h"

#include <fmt/format.h>

#include <algorithm>

namespace spillway::relay {
namespace {

// A topic or partition that is briefly not ready holds up the rows behind; only then is it worth reading rows again.
constexpr base::Duration kPatience = Gate::kStallAfter;
constexpr std::size_t kAgainRows = 1000;

constexpr std::array<double, 12> kPublishBounds = {0.001, 0.002, 0.003, 0.005, 0.010, 0.025,
                                                   0.050, 0.100, 0.250, 1.0,   5.0,   30.0};

std::size_t left(std::size_t limit, std::size_t used) { return limit > used ? limit - used : 0; }

}  // namespace

Outbound::Outbound(Route route, const OutboundLimits& limits, ports::Sink& sink)
    : route_(std::move(route)), limits_(limits), sink_(sink), publish_seconds_(kPublishBounds) {}

Outbound::TopicPlaces& Outbound::places(ports::TopicId topic) {
  if (topic >= topics_.size()) topics_.resize(topic + 1);
  TopicPlaces& found = topics_[topic];
  if (found.own == kNoGate) {
    found.own = static_cast<std::uint32_t>(gates_.size());
    gates_.push_back({topic, -1, {}});
  }
  return found;
}

std::uint32_t Outbound::partition_place(ports::TopicId topic, std::int32_t partition) {
  auto& partitions = places(topic).partitions;
  while (partitions.size() <= static_cast<std::size_t>(partition)) {
    gates_.push_back({topic, static_cast<std::int32_t>(partitions.size()), {}});
    partitions.push_back(static_cast<std::uint32_t>(gates_.size() - 1));
  }
  return partitions[static_cast<std::size_t>(partition)];
}

// A partition may hold as much as is left for all the others: one that takes nothing ends with half, two with a third
// each, so some is always left for those that move (dynamic thresholds, Choudhury and Hahne, 1998).
bool Outbound::share_used(const Gate& gate) const {
  return gate.in_flight() >= left(limits_.events_in_flight, flights_.count()) ||
         gate.bytes() >= left(limits_.bytes_in_flight, flights_.bytes());
}

Placement Outbound::offer(const Offer& offer, base::Instant now) {
  auto addressed = offer.reconciled != nullptr ? route_.reconcile(*offer.row, *offer.reconciled, offer.db_now_micros)
                                               : route_.address(*offer.row, offer.db_now_micros);
  if (!addressed) return settle(offer, nullptr, addressed.error().message);
  if (auto refused = refused_.empty() ? refused_.end() : refused_.find(offer.ordinal); refused != refused_.end()) {
    return settle(offer, &*addressed, std::move(refused_.extract(refused).mapped()));
  }

  if (!last_topic_id_ || addressed->topic != last_topic_) {
    last_topic_id_ = sink_.topic_id(addressed->topic);
    last_topic_ = addressed->topic;
  }
  const ports::TopicId id = *last_topic_id_;
  const TopicPlaces& topic_places = places(id);
  const ports::Topic& topic = sink_.topic(id);
  if (topic.state == ports::TopicState::kRefused) return settle(offer, &*addressed, topic.reason);
  const std::uint32_t own = topic_places.own;
  if (queues_at(own, offer) || (topic_places.regrouping && offer.again != own)) return wait_at(own, offer);
  if (topic.state != ports::TopicState::kReady) return wait_for_topic(offer, *addressed, id, now);

  const std::uint32_t at = partition_place(id, sink_.partition_for(id, addressed->key));
  if (queues_at(at, offer)) return wait_at(at, offer);
  const Gate& gate = gates_[at].gate;
  if (share_used(gate)) return gate.stalled(now) ? wait_at(at, offer) : Placement::kBlocked;
  return send(offer, *addressed, at, now);
}

Placement Outbound::wait_for_topic(const Offer& offer, const Addressed& addressed, ports::TopicId id,
                                   base::Instant now) {
  TopicPlaces& topic_places = places(id);
  const ports::Topic& topic = sink_.topic(id);
  if (!topic_places.not_ready_since) topic_places.not_ready_since = now;
  if (topic.state == ports::TopicState::kMissing) {
    if (!topic_places.missing_since) topic_places.missing_since = now;
    if (topic_over(topic_places, now)) return settle(offer, &addressed, topic.reason);
  } else if (base::elapsed(*topic_places.not_ready_since, now) < kPatience) {
    return Placement::kBlocked;
  }
  return wait_at(topic_places.own, offer);
}

bool Outbound::queues_at(std::uint32_t at, const Offer& offer) const {
  const Gate& gate = gates_[at].gate;
  return offer.again == at ? gate.waits_before(offer.row->seq) : gate.closed();
}

Placement Outbound::wait_at(std::uint32_t gate, const Offer& offer) {
  gates_[gate].gate.defer({offer.row->seq, offer.ordinal});
  return Placement::kDeferred;
}

bool Outbound::topic_over(const TopicPlaces& topic_places, base::Instant now) const {
  return topic_places.missing_since && base::elapsed(*topic_places.missing_since, now) >= limits_.unknown_topic_after;
}

model::Settlement Outbound::describe(const model::Row& row, const Addressed* addressed) {
  model::Settlement settlement;
  settlement.seq = row.seq;
  settlement.id = row.id;
  if (row.aggregate_id) settlement.key = std::string(*row.aggregate_id);
  if (addressed != nullptr) settlement.topic = addressed->topic;
  settlement.type = row.type;
  settlement.bytes = static_cast<std::int64_t>(row.payload ? row.payload->size() : 0);
  settlement.who = "relay";
  return settlement;
}

model::Settlement Outbound::describe(const model::Row& row, std::int64_t db_now_micros) {
  const auto addressed = route_.address(row, db_now_micros);
  return describe(row, addressed ? &*addressed : nullptr);
}

// What a rule decided stands, also where the reconcile topic does not take it.
Placement Outbound::settle(const Offer& offer, const Addressed* addressed, std::string reason) {
  if (offer.reconciled != nullptr) {
    settlement_ = *offer.reconciled;
    settlement_.state = model::SettlementState::kOpen;
    settlement_.reason += fmt::format(" (not on the reconcile topic: {})", reason);
    return Placement::kSettle;
  }
  settlement_ = describe(*offer.row, addressed);
  settlement_.verdict = model::Verdict::kSetAside;
  settlement_.reason = std::move(reason);
  return Placement::kSettle;
}

Placement Outbound::send(const Offer& offer, const Addressed& addressed, std::uint32_t at, base::Instant now) {
  Place& place = gates_[at];
  const ports::Record record{place.topic,        place.partition,   addressed.key,
                             offer.row->payload, addressed.headers, addressed.unix_millis};
  const std::size_t bytes = offer.row->bytes();
  Flight flight{offer.ordinal, offer.row->seq, at, static_cast<std::uint32_t>(bytes), life_, now, created(*offer.row)};
  const std::uint64_t token = flights_.add(flight);
  switch (sink_.send(record, token)) {
    case ports::SendOutcome::kQueued: break;
    case ports::SendOutcome::kPartitionFull:
      flights_.remove(token);
      return place.gate.stalled(now) ? wait_at(at, offer) : Placement::kBlocked;
    case ports::SendOutcome::kFull:
    case ports::SendOutcome::kNotReady: flights_.remove(token); return Placement::kBlocked;
    case ports::SendOutcome::kRejected: flights_.remove(token); return settle(offer, &addressed, sink_.last_reason());
  }
  place.gate.sent(bytes, now);
  return Placement::kSent;
}

std::optional<base::Instant> Outbound::created(const model::Row& row) const {
  if (row.created_at.kind != model::Timestamp::Kind::kFinite) return std::nullopt;
  return db_now_at_ - std::chrono::microseconds(std::max<std::int64_t>(0, db_now_micros_ - row.created_at.unix_micros));
}

Answer Outbound::answered(const ports::Delivery& delivery, base::Instant now) {
  Answer answer;
  answer.flight = flights_.remove(delivery.token);
  const Flight& flight = answer.flight;
  Gate& gate = gates_[flight.gate].gate;
  if (gate.closed()) answer.stalled_for = gate.silent_for(now);
  gate.answered(flight.bytes, now);
  if (flight.life != life_) return answer;

  switch (delivery.outcome) {
    case ports::DeliveryOutcome::kAcknowledged:
      publish_seconds_.add(base::elapsed(flight.sent_at, now));
      answer.kind = Answer::Kind::kFinished;
      break;
    case ports::DeliveryOutcome::kRejected:
      gate.defer({flight.seq, flight.ordinal});
      refused_.emplace(flight.ordinal, delivery.reason);
      answer.kind = Answer::Kind::kWaits;
      break;
    case ports::DeliveryOutcome::kTopicMissing:
      came_back(flight);
      answer.kind = Answer::Kind::kWaits;
      break;
    case ports::DeliveryOutcome::kUnknown: answer.kind = Answer::Kind::kForget; break;
  }
  return answer;
}

void Outbound::came_back(const Flight& flight) {
  TopicPlaces& topic_places = places(gates_[flight.gate].topic);
  topic_places.returned = true;
  gates_[topic_places.own].gate.defer({flight.seq, flight.ordinal});
}

base::Duration Outbound::topic_changed(ports::TopicId id, base::Instant now) {
  TopicPlaces& topic_places = places(id);
  const ports::TopicState state = sink_.topic(id).state;
  base::Duration stalled_for = base::Duration::zero();
  if (state == ports::TopicState::kReady && topic_places.not_ready_since && gates_[topic_places.own].gate.closed()) {
    stalled_for = base::elapsed(*topic_places.not_ready_since, now);
  }
  regroup(topic_places);
  if (state == ports::TopicState::kReady) {
    topic_places.not_ready_since.reset();
  } else if (!topic_places.not_ready_since) {
    topic_places.not_ready_since = now;
  }
  topic_places.missing_since.reset();
  if (state == ports::TopicState::kMissing && gates_[topic_places.own].gate.closed()) topic_places.missing_since = now;
  return stalled_for;
}

// A key's partition may be another one now: what waits is put in order before the topic as a whole.
void Outbound::regroup(TopicPlaces& topic_places) {
  for (std::uint32_t partition : topic_places.partitions) {
    Gate& gate = gates_[partition].gate;
    if (gate.reading_again()) topic_places.regrouping = true;
    for (const Waiting& row : gate.take_all()) gates_[topic_places.own].gate.defer(row);
  }
}

bool Outbound::may_go(const Place& place, base::Instant now) const {
  const ports::TopicState state = sink_.topic(place.topic).state;
  const TopicPlaces& topic_places = topics_[place.topic];
  if (place.partition >= 0) {
    // Rows before the topic as a whole may be older, or belong here too.
    if (gates_[topic_places.own].gate.closed()) return false;
  } else if (topic_places.regrouping) {
    return false;
  } else if (topic_places.returned) {
    for (std::uint32_t partition : topic_places.partitions) {
      if (gates_[partition].gate.in_flight() > 0) return false;
    }
  }
  switch (state) {
    case ports::TopicState::kReady: return !share_used(place.gate);
    case ports::TopicState::kRefused: return true;
    case ports::TopicState::kMissing: return topic_over(topic_places, now);
    case ports::TopicState::kResolving: return false;
  }
  return false;
}

std::optional<Wanted> Outbound::wanted(base::Instant now) {
  for (std::size_t tried = 0; tried < gates_.size(); ++tried) {
    const std::size_t at = next_wanted_++ % gates_.size();
    Place& place = gates_[at];
    if (place.gate.deferred() == 0 || place.gate.reading_again() || !may_go(place, now)) continue;
    return Wanted{static_cast<std::uint32_t>(at), place.gate.take(kAgainRows)};
  }
  return std::nullopt;
}

void Outbound::wanted_done(std::uint32_t gate) {
  Place& place = gates_[gate];
  place.gate.again_done();
  TopicPlaces& topic_places = places(place.topic);
  if (place.partition >= 0) {
    topic_places.regrouping =
        topic_places.regrouping && std::ranges::any_of(topic_places.partitions, [this](std::uint32_t partition) {
          return gates_[partition].gate.reading_again();
        });
  } else if (place.gate.deferred() == 0) {
    topic_places.missing_since.reset();
    topic_places.returned = false;
  }
}

std::vector<Waiting> Outbound::take_waiting() {
  std::vector<Waiting> taken;
  for (Place& place : gates_) {
    if (topics_[place.topic].returned) continue;
    place.gate.take_to(taken, [this](const Waiting& row) { return !refused_.contains(row.ordinal); });
  }
  return taken;
}

void Outbound::forget() {
  ++life_;
  refused_.clear();
  for (Place& place : gates_) place.gate.forget_waiting();
  for (TopicPlaces& topic_places : topics_) topic_places.returned = topic_places.regrouping = false;
}

std::size_t Outbound::waiting() const {
  std::size_t rows = 0;
  for (const Place& place : gates_) rows += place.gate.deferred();
  return rows;
}

std::vector<StuckPartition> Outbound::stuck(base::Instant now) const {
  std::vector<StuckPartition> stuck;
  for (const Place& place : gates_) {
    const ports::Topic& topic = sink_.topic(place.topic);
    if (place.partition < 0) {
      const auto& since = topics_[place.topic].not_ready_since;
      if (topic.state == ports::TopicState::kReady || !since || base::elapsed(*since, now) < kPatience) continue;
      stuck.push_back({sink_.topic_name(place.topic), -1, base::seconds(base::elapsed(*since, now)),
                       place.gate.deferred(), topic.reason});
    } else if (place.gate.stalled(now)) {
      stuck.push_back({sink_.topic_name(place.topic), place.partition, base::seconds(place.gate.silent_for(now)),
                       place.gate.deferred() + place.gate.in_flight(), "acknowledges nothing"});
    }
  }
  return stuck;
}

}  // namespace spillway::relay
