#include "bank/tellers.h"

#include <algorithm>
#include <utility>

namespace spillway::bank {

Tellers::Tellers(const sim::DownstreamSpec& spec, std::uint64_t seed)
    : random_(seed), downstream_(sim::make_downstream(spec, random_)) {}

double Tellers::service_time(base::Instant now) const {
  return base::seconds(base::elapsed(*origin_, stopped_.value_or(now)));
}

std::optional<base::Instant> Tellers::next_completion() const {
  const double at = downstream_->next_completion();
  if (stopped_ || at == sim::kNever) return std::nullopt;
  return *origin_ + std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(at));
}

sim::CallId Tellers::open(base::Instant now, Ticket ticket) {
  if (free_.empty()) {
    free_.push_back(static_cast<sim::CallId>(calls_.size()));
    calls_.emplace_back();
  }
  const sim::CallId id = free_.back();
  free_.pop_back();
  calls_[id] = {.ticket = ticket, .made = now, .open = true, .given_up = false};
  ++open_;
  return id;
}

void Tellers::call(base::Instant now, Ticket ticket, base::Duration deadline) {
  advance(now);
  const sim::CallId id = open(now, ticket);
  if (!downstream_->arrive(service_time(now), id)) {
    calls_[id].open = false;
    free_.push_back(id);
    --open_;
    happened_.push_back({Happening::Kind::kRefused, ticket, now, {}});
    return;
  }
  deadlines_.push({now + deadline, id, ticket});
}

void Tellers::advance(base::Instant now) {
  if (!origin_) origin_ = now;
  while (true) {
    const auto done = next_completion();
    const bool passed = !deadlines_.empty() && deadlines_.top().at < done.value_or(base::Instant::max());
    if (passed && deadlines_.top().at <= now) {
      pass_deadline();
    } else if (!passed && done && *done <= now) {
      complete(*done);
    } else {
      return;
    }
  }
}

void Tellers::complete(base::Instant at) {
  const sim::CallId id = downstream_->complete().call;
  Call& call = calls_[id];
  happened_.push_back({call.given_up ? Happening::Kind::kAnsweredLate : Happening::Kind::kAnswered, call.ticket, at,
                       base::elapsed(call.made, at)});
  call.open = false;
  free_.push_back(id);
  --open_;
}

void Tellers::pass_deadline() {
  const Deadline deadline = deadlines_.top();
  deadlines_.pop();
  Call& call = calls_[deadline.id];
  if (!call.open || call.ticket != deadline.ticket) return;
  call.given_up = true;
  happened_.push_back({Happening::Kind::kGivenUp, call.ticket, deadline.at, base::elapsed(call.made, deadline.at)});
}

void Tellers::change(base::Instant now, const sim::Change& change) {
  advance(now);
  downstream_->change(service_time(now), change);
}

void Tellers::stop(base::Instant now) {
  advance(now);
  if (!stopped_) stopped_ = now;
}

void Tellers::resume(base::Instant now) {
  advance(now);
  if (!stopped_) return;
  *origin_ += base::elapsed(*stopped_, now);
  stopped_.reset();
}

std::vector<Happening> Tellers::take() { return std::exchange(happened_, {}); }

std::optional<base::Instant> Tellers::next_event() const {
  const auto done = next_completion();
  if (deadlines_.empty()) return done;
  return std::min(deadlines_.top().at, done.value_or(base::Instant::max()));
}

}  // namespace spillway::bank
