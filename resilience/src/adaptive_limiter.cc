#include "spillway/resilience/adaptive_limiter.h"

#include <algorithm>
#include <cmath>

namespace spillway::resilience {

std::optional<SettingError> AdaptiveLimitSettings::first_error() const {
  return SettingCheck("adaptive_limiter")
      .whole("highest", highest, 1, 1'000'000)
      .whole("lowest", lowest, 1, highest)
      .whole("initial", initial, lowest, highest)
      .time("window", window, std::chrono::milliseconds(1), std::chrono::hours(1))
      .whole("minimum_samples", minimum_samples, 1, 1'000'000)
      .real("tolerance", tolerance, 1, 10)
      .real("decrease", decrease, 0.1, 0.99)
      .real("baseline_weight", baseline_weight, 0.001, 1)
      .first_error();
}

AdaptiveLimiter::AdaptiveLimiter(AdaptiveLimitSettings settings, Instant created, EventQueue* events)
    : settings_(checked(settings)),
      events_(events),
      limit_(settings.initial),
      window_start_(created),
      exact_limit_(settings.initial) {}

AdaptiveLimiter::Permit AdaptiveLimiter::try_acquire(Instant now) noexcept {
  std::uint32_t in_flight = in_flight_.load(std::memory_order_relaxed);
  while (in_flight < limit_.load(std::memory_order_relaxed)) {
    if (in_flight_.compare_exchange_weak(in_flight, in_flight + 1)) return Permit(this, now);
  }
  refused_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

void AdaptiveLimiter::record(Outcome outcome, Instant started, Instant now) noexcept {
  const std::uint32_t in_flight = in_flight_.fetch_sub(1);
  if (outcome == Outcome::kIgnored) return;
  const std::lock_guard held(lock_);
  latency_sum_ += static_cast<double>(elapsed(started, now).count());
  ++samples_;
  failures_ += outcome == Outcome::kFailure;
  most_in_flight_ = std::max(most_in_flight_, in_flight);
  if (samples_ >= settings_.minimum_samples && elapsed(window_start_, now) >= settings_.window) end_window(now);
}

void AdaptiveLimiter::end_window(Instant now) noexcept {
  exact_limit_ = std::clamp<double>(next_limit(exact_limit_, std::max(1.0, latency_sum_ / samples_)), settings_.lowest,
                                    settings_.highest);
  window_start_ = now;
  latency_sum_ = 0;
  samples_ = failures_ = most_in_flight_ = 0;
  const auto limit = static_cast<std::uint32_t>(exact_limit_);
  if (limit == limit_.exchange(limit, std::memory_order_relaxed) || events_ == nullptr) return;
  Event event{.at = now, .kind = EventKind::kLimitChanged, .value = limit};
  std::string_view("adaptive_limiter").copy(event.source.data(), event.source.size() - 1);
  events_->push(event);
}

double AdaptiveLimiter::next_limit(double limit, double latency) noexcept {
  const bool in_use = most_in_flight_ * 2 >= limit;
  if (settings_.rule == LimitRule::kAimd) {
    if (failures_ > 0) return limit * settings_.decrease;
    return in_use ? limit + 1 : limit;
  }
  double baseline = static_cast<double>(baseline_.load(std::memory_order_relaxed));
  if (baseline == 0) baseline = latency;
  const double gradient = std::clamp(settings_.tolerance * baseline / latency, 0.5, 1.0);
  if (gradient == 1.0 && failures_ == 0) baseline += settings_.baseline_weight * (latency - baseline);
  baseline_.store(static_cast<Duration::rep>(std::max(1.0, baseline)), std::memory_order_relaxed);
  if (failures_ > 0) return limit * std::min(settings_.decrease, gradient);
  if (gradient < 1.0) return limit * gradient;
  // The square root leaves room for a short queue, which is what finds a higher limit.
  return in_use ? limit + std::sqrt(limit) : limit;
}

}  // namespace spillway::resilience
