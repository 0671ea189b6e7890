#include "spillway/resilience/outlier_ejection.h"

#include <algorithm>

namespace spillway::resilience {

std::optional<SettingError> EjectionSettings::first_error() const {
  return SettingCheck("outlier_ejection")
      .whole("endpoints", endpoints, 1, 100'000)
      .whole("consecutive_failures", consecutive_failures, 1, 1'000'000)
      .time("longest_time", longest_time, Duration(1), kLongestTime)
      .time("base_time", base_time, Duration(1), longest_time)
      .whole("most_ejected_percent", most_ejected_percent, 1, 100)
      .time("readmission", readmission, Duration::zero(), kLongestTime)
      .first_error();
}

OutlierEjection::OutlierEjection(EjectionSettings settings, EventQueue* events)
    : settings_(checked(settings)), events_(events), endpoints_(settings.endpoints) {}

void OutlierEjection::record(std::uint32_t endpoint, Outcome outcome, Instant now) {
  const std::lock_guard lock(mutex_);
  bring_back(now);
  Endpoint& e = endpoints_.at(endpoint);
  if (outcome == Outcome::kSuccess) e.failures_in_a_row = 0;
  // An ejected endpoint still answers calls that were under way; they lead to nothing.
  if (outcome != Outcome::kFailure || e.out) return;
  if (e.ejections > 0 && elapsed(e.changed, now) >= settings_.longest_time) --e.ejections;
  e.changed = now;
  ++e.failures_in_a_row;
  if (e.failures_in_a_row >= settings_.consecutive_failures && may_eject()) eject(endpoint, now);
}

bool OutlierEjection::may_eject() const noexcept {
  const auto all = static_cast<std::uint64_t>(endpoints_.size());
  const std::uint64_t most = std::max<std::uint64_t>(1, all * settings_.most_ejected_percent / 100);
  return out_ < most && out_ + 1 < all;
}

void OutlierEjection::eject(std::uint32_t endpoint, Instant now) {
  Endpoint& e = endpoints_[endpoint];
  const std::int64_t steps = std::min<std::int64_t>(++e.ejections, settings_.longest_time / settings_.base_time);
  e.out = true;
  e.failures_in_a_row = 0;
  e.until = add_saturating(now, settings_.base_time * std::max<std::int64_t>(1, steps));
  ++out_;
  tell(EventKind::kEndpointEjected, endpoint, now);
}

void OutlierEjection::bring_back(Instant now) {
  if (out_ == 0) return;
  for (std::uint32_t i = 0; i < endpoints_.size(); ++i) {
    Endpoint& e = endpoints_[i];
    if (!e.out || now < e.until) continue;
    e.out = false;
    e.returned = e.changed = e.until;
    --out_;
    tell(EventKind::kEndpointReturned, i, now);
  }
}

double OutlierEjection::weight_of(const Endpoint& endpoint, Instant now) const noexcept {
  constexpr double kFirst = 0.1;
  if (endpoint.out) return 0;
  if (!endpoint.returned || settings_.readmission == Duration::zero()) return 1;
  const double share = static_cast<double>(elapsed(*endpoint.returned, now).count()) /
                       static_cast<double>(settings_.readmission.count());
  return std::min(1.0, kFirst + (1 - kFirst) * share);
}

bool OutlierEjection::ejected(std::uint32_t endpoint, Instant now) {
  const std::lock_guard lock(mutex_);
  bring_back(now);
  return endpoints_.at(endpoint).out;
}

double OutlierEjection::weight(std::uint32_t endpoint, Instant now) {
  const std::lock_guard lock(mutex_);
  bring_back(now);
  return weight_of(endpoints_.at(endpoint), now);
}

std::uint32_t OutlierEjection::pick(double u, Instant now) {
  const std::lock_guard lock(mutex_);
  bring_back(now);
  double sum = 0;
  for (const Endpoint& e : endpoints_) sum += weight_of(e, now);
  double place = u * sum;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < endpoints_.size(); ++i) {
    const double w = weight_of(endpoints_[i], now);
    if (w == 0) continue;
    last = i;
    if (place < w) break;
    place -= w;
  }
  return last;
}

std::uint32_t OutlierEjection::ejected_count(Instant now) {
  const std::lock_guard lock(mutex_);
  bring_back(now);
  return out_;
}

void OutlierEjection::tell(EventKind kind, std::uint32_t endpoint, Instant now) noexcept {
  if (events_ == nullptr) return;
  Event event{.at = now, .kind = kind, .value = endpoint};
  std::string_view("outlier_ejection").copy(event.source.data(), event.source.size() - 1);
  events_->push(event);
}

}  // namespace spillway::resilience
