#include "sim/plant.h"

#include <algorithm>

namespace spillway::sim {

namespace {
constexpr double kRefusalS = 0.001;
}

Plant::Plant(const Scenario& scenario, Random& random, PlantListener& listener)
    : scenario_(scenario),
      random_(random),
      listener_(listener),
      downstream_(make_downstream(scenario.downstream, random)) {
  if (scenario.downstream.bucket) bucket_tokens_ = scenario.downstream.bucket->burst;
}

CallId Plant::open(double now, Traffic traffic, std::uint8_t attempt) {
  CallId id;
  if (free_.empty()) {
    id = static_cast<CallId>(calls_.size());
    calls_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  calls_[id] = {now, traffic, attempt, false, false, false};
  return id;
}

void Plant::close(CallId id) { free_.push_back(id); }

bool Plant::may_retry(const Call& call) const {
  return call.traffic == Traffic::kBacklog ||
         (call.traffic == Traffic::kLive && call.attempt < scenario_.client.live_retries);
}

void Plant::send(double now, Traffic traffic) {
  if (traffic == Traffic::kForeign || scenario_.path_s == 0) return arrive({now, traffic, 0});
  path_.push_back({now + scenario_.path_s, traffic, 0});
}

double Plant::next_event() const {
  double next = downstream_->next_completion();
  if (!path_.empty()) next = std::min(next, path_.front().at);
  if (!retries_.empty()) next = std::min(next, retries_.top().at);
  if (!timeouts_.empty()) next = std::min(next, calls_[timeouts_.front()].arrived + scenario_.client.timeout_s);
  return next;
}

void Plant::step() {
  const double at = next_event();
  if (at == downstream_->next_completion()) return answer();
  if (!path_.empty() && path_.front().at == at) {
    const Arrival arrival = path_.front();
    path_.pop_front();
    return arrive(arrival);
  }
  if (!retries_.empty() && retries_.top().at == at) {
    const Arrival arrival = retries_.top();
    retries_.pop();
    return arrive(arrival);
  }
  time_out();
}

bool Plant::bucket_empty(double now) {
  const auto& bucket = scenario_.downstream.bucket;
  if (!bucket) return false;
  bucket_tokens_ = std::min(bucket->burst, bucket_tokens_ + (now - bucket_at_) * bucket->rate);
  bucket_at_ = now;
  if (bucket_tokens_ < 1) return true;
  bucket_tokens_ -= 1;
  return false;
}

void Plant::arrive(const Arrival& arrival) {
  if (arrival.traffic != Traffic::kForeign) attempts_ += 1;
  if (bucket_empty(arrival.at)) return refuse(arrival, scenario_.downstream.bucket->retry_after_s);
  const CallId id = open(arrival.at, arrival.traffic, arrival.attempt);
  if (!downstream_->arrive(arrival.at, id)) {
    close(id);
    return refuse(arrival, std::nullopt);
  }
  if (may_retry(calls_[id])) {
    calls_[id].watched = true;
    timeouts_.push_back(id);
  }
}

void Plant::refuse(const Arrival& arrival, std::optional<double> retry_after_s) {
  listener_.on_answer({arrival.at, arrival.traffic, kRefusalS, kRefusalS, false, true, retry_after_s});
  if (arrival.traffic == Traffic::kBacklog) return listener_.on_returned(arrival.at);
  // A Retry-After is honoured once, by clients that would otherwise not retry as well.
  const int retries = std::max(scenario_.client.live_retries, retry_after_s ? 1 : 0);
  if (arrival.traffic != Traffic::kLive || arrival.attempt >= retries) return;
  const double wait = retry_after_s.value_or(0) + random_.uniform() * scenario_.client.retry_jitter_s;
  retries_.push({arrival.at + wait, Traffic::kLive, static_cast<std::uint8_t>(arrival.attempt + 1)});
}

void Plant::answer() {
  const double at = downstream_->next_completion();
  const Completion done = downstream_->complete();
  Call& call = calls_[done.call];
  const double latency = at - call.arrived;
  bool good = latency <= scenario_.client.timeout_s;
  if (good) {
    for (const Span& burst : scenario_.error_bursts) {
      if (burst.contains(at) && random_.uniform() < scenario_.error_burst_share) good = false;
    }
  }
  call.answered = true;
  const bool failed_in_time = !good && !call.given_up && latency <= scenario_.client.timeout_s;
  listener_.on_answer({at, call.traffic, latency, done.in_service_s, good, false, std::nullopt});
  if (failed_in_time && call.traffic == Traffic::kBacklog) listener_.on_returned(at);
  if (!call.watched || call.given_up) close(done.call);
}

void Plant::time_out() {
  const CallId id = timeouts_.front();
  timeouts_.pop_front();
  Call& call = calls_[id];
  if (call.answered) return close(id);
  call.given_up = true;
  const double at = call.arrived + scenario_.client.timeout_s;
  if (call.traffic == Traffic::kBacklog) return listener_.on_returned(at);
  const double wait = random_.uniform() * scenario_.client.retry_jitter_s;
  retries_.push({at + wait, Traffic::kLive, static_cast<std::uint8_t>(call.attempt + 1)});
}

}  // namespace spillway::sim
