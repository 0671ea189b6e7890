#include "relay/outbound.h"

#include <fmt/format.h>

#include <algorithm>

namespace spillway::relay {
namespace {

// A topic or partition that is briefly not ready holds up the rows behind; only then is it worth reading rows again.
constexpr base::Duration kPatience = Gate::kStallAfter;
constexpr std::size_t kLeastShare = 64;
constexpr std::size_t kAgainRows = 1000;

constexpr std::array<double, 12> kPublishBounds = {0.001, 0.002, 0.003, 0.005, 0.010, 0.025,
                                                   0.050, 0.100, 0.250, 1.0,   5.0,   30.0};
constexpr std::array<double, 16> kDelayBounds = {0.005, 0.010, 0.025, 0.050, 0.100, 0.250, 0.5,  1,
                                                 2.5,   5,     15,    60,    300,   1800,  7200, 86400};

}  // namespace

Outbound::Outbound(Route route, const OutboundLimits& limits, ports::Sink& sink)
    : route_(std::move(route)),
      limits_(limits),
      sink_(sink),
      publish_seconds_(kPublishBounds),
      delay_seconds_(kDelayBounds) {}

Outbound::TopicPlaces& Outbound::places(ports::TopicId topic) {
  auto [at, added] = topics_.try_emplace(topic);
  if (added) {
    at->second.own = static_cast<std::uint32_t>(gates_.size());
    gates_.push_back({topic, -1, {}});
  }
  return at->second;
}

std::uint32_t Outbound::partition_place(ports::TopicId topic, std::int32_t partition) {
  auto& partitions = places(topic).partitions;
  while (partitions.size() <= static_cast<std::size_t>(partition)) {
    gates_.push_back({topic, static_cast<std::int32_t>(partitions.size()), {}});
    partitions.push_back(static_cast<std::uint32_t>(gates_.size() - 1));
    ++partitions_seen_;
  }
  return partitions[static_cast<std::size_t>(partition)];
}

bool Outbound::share_used(const Gate& gate) const {
  // At least four shares, so that one partition that takes nothing leaves room for the others.
  const std::size_t shares = std::max<std::size_t>(4, partitions_seen_);
  return gate.in_flight() >= std::max(kLeastShare, limits_.events_in_flight / shares) ||
         gate.bytes() >= limits_.bytes_in_flight / shares;
}

bool Outbound::full() const {
  return flights_.count() >= limits_.events_in_flight || flights_.bytes() >= limits_.bytes_in_flight;
}

Placement Outbound::offer(const Offer& offer, base::Instant now) {
  auto addressed = route_.address(*offer.row, offer.db_now_micros);
  if (!addressed) return settle(offer, nullptr, addressed.error().message);

  const ports::TopicId id = sink_.topic_id(addressed->topic);
  TopicPlaces& topic_places = places(id);
  const ports::Topic& topic = sink_.topic(id);
  if (topic.state == ports::TopicState::kRefused) return settle(offer, &*addressed, topic.reason);
  if (topic.state != ports::TopicState::kReady) {
    if (topic.state == ports::TopicState::kMissing && topic_over(topic_places, now)) {
      return settle(offer, &*addressed, topic.reason);
    }
    return wait_for_topic(offer, id, topic_places, now);
  }
  if (gates_[topic_places.own].gate.closed() && offer.again != topic_places.own) {
    if (offer.origin == Flight::Origin::kReleased) return Placement::kBlocked;
    gates_[topic_places.own].gate.defer(offer.ordinal);
    return Placement::kDeferred;
  }

  const std::uint32_t at = partition_place(id, sink_.partition_for(id, addressed->key));
  Gate& gate = gates_[at].gate;
  if (gate.closed() && offer.again != at) {
    if (offer.origin == Flight::Origin::kReleased) return Placement::kBlocked;
    gate.defer(offer.ordinal);
    return Placement::kDeferred;
  }
  if (auto refused = refused_.find(offer.ordinal); refused != refused_.end()) {
    return settle(offer, &*addressed, std::move(refused_.extract(refused).mapped()));
  }
  if (share_used(gate)) {
    if (!gate.stalled(now) || offer.again || offer.origin == Flight::Origin::kReleased) return Placement::kBlocked;
    gate.defer(offer.ordinal);
    return Placement::kDeferred;
  }
  if (full()) return Placement::kBlocked;
  return send(offer, *addressed, at, now);
}

Placement Outbound::wait_for_topic(const Offer& offer, ports::TopicId id, TopicPlaces& topic_places,
                                   base::Instant now) {
  if (!topic_places.not_ready_since) topic_places.not_ready_since = now;
  const bool brief = base::elapsed(*topic_places.not_ready_since, now) < kPatience &&
                     sink_.topic(id).state == ports::TopicState::kResolving;
  if (brief || offer.origin == Flight::Origin::kReleased) return Placement::kBlocked;
  gates_[topic_places.own].gate.defer(offer.ordinal);
  return Placement::kDeferred;
}

bool Outbound::topic_over(const TopicPlaces& topic_places, base::Instant now) const {
  return topic_places.not_ready_since &&
         base::elapsed(*topic_places.not_ready_since, now) >= limits_.unknown_topic_after;
}

Placement Outbound::settle(const Offer& offer, const Addressed* addressed, std::string reason) {
  const model::Row& row = *offer.row;
  settlement_ = {};
  settlement_.seq = row.seq;
  settlement_.id = row.id;
  if (row.aggregate_id) settlement_.key = std::string(*row.aggregate_id);
  if (addressed != nullptr) settlement_.topic = addressed->topic;
  settlement_.type = row.type;
  settlement_.bytes = static_cast<std::int64_t>(row.payload ? row.payload->size() : 0);
  settlement_.verdict = model::Verdict::kSetAside;
  settlement_.reason = std::move(reason);
  settlement_.who = "relay";
  return Placement::kSettle;
}

Placement Outbound::send(const Offer& offer, const Addressed& addressed, std::uint32_t at, base::Instant now) {
  Place& place = gates_[at];
  const ports::Record record{place.topic,        place.partition,   addressed.key,
                             offer.row->payload, addressed.headers, addressed.unix_millis};
  const std::size_t bytes = offer.row->bytes();
  Flight flight{offer.ordinal, at, static_cast<std::uint32_t>(bytes), life_, offer.origin, now, created(*offer.row)};
  const std::uint64_t token = flights_.add(flight);
  switch (sink_.send(record, token)) {
    case ports::SendOutcome::kQueued: break;
    case ports::SendOutcome::kFull:
    case ports::SendOutcome::kPartitionFull:
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
  gate.answered(flight.bytes, now);
  if (flight.life != life_) return answer;

  switch (delivery.outcome) {
    case ports::DeliveryOutcome::kAcknowledged:
      publish_seconds_.add(base::elapsed(flight.sent_at, now));
      if (flight.created_at) delay_seconds_.add(base::elapsed(*flight.created_at, now));
      answer.kind = Answer::Kind::kFinished;
      break;
    case ports::DeliveryOutcome::kRejected:
      gate.defer(flight.ordinal);
      refused_.emplace(flight.ordinal, delivery.reason);
      answer.kind = Answer::Kind::kWaits;
      break;
    case ports::DeliveryOutcome::kTopicMissing:
      if (flight.origin == Flight::Origin::kLane) {
        gates_[places(gates_[flight.gate].topic).own].gate.defer(flight.ordinal);
      }
      answer.kind = Answer::Kind::kWaits;
      break;
    case ports::DeliveryOutcome::kUnknown: answer.kind = Answer::Kind::kForget; break;
  }
  return answer;
}

void Outbound::topic_changed(ports::TopicId id, base::Instant now) {
  TopicPlaces& topic_places = places(id);
  if (sink_.topic(id).state == ports::TopicState::kReady) {
    topic_places.not_ready_since.reset();
  } else if (!topic_places.not_ready_since) {
    topic_places.not_ready_since = now;
  }
}

std::optional<Wanted> Outbound::wanted(base::Instant now) {
  for (std::size_t tried = 0; tried < gates_.size(); ++tried) {
    const std::size_t at = next_wanted_++ % gates_.size();
    Place& place = gates_[at];
    if (place.gate.deferred() == 0 || place.gate.reading_again()) continue;
    const ports::TopicState state = sink_.topic(place.topic).state;
    const bool over = state == ports::TopicState::kRefused ||
                      (state == ports::TopicState::kMissing && topic_over(places(place.topic), now));
    const bool can_go = state == ports::TopicState::kReady && !share_used(place.gate) && !full();
    // Rows that came back because their topic had gone wait until nothing of it is out, or they would be overtaken.
    bool quiet = true;
    if (place.partition < 0) {
      for (std::uint32_t p : places(place.topic).partitions) quiet = quiet && gates_[p].gate.in_flight() == 0;
    }
    if (!quiet || (!over && !can_go)) continue;
    Wanted wanted;
    wanted.gate = static_cast<std::uint32_t>(at);
    wanted.ordinals = place.gate.take(kAgainRows);
    return wanted;
  }
  return std::nullopt;
}

void Outbound::forget() {
  ++life_;
  refused_.clear();
  for (Place& place : gates_) place.gate.forget_waiting();
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
      const auto& since = topics_.at(place.topic).not_ready_since;
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
