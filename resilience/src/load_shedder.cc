#include "spillway/resilience/load_shedder.h"

#include <algorithm>

namespace spillway::resilience {

std::optional<SettingError> ShedSettings::first_error() const {
  using namespace std::chrono_literals;
  SettingCheck check("load_shedder");
  for (std::size_t i = 0; i < shed_at_percent.size(); ++i) {
    const std::int64_t most = i == 0 ? 1000 : shed_at_percent[i - 1];
    check.whole("shed_at_percent[" + std::to_string(i) + "]", shed_at_percent[i], 1, most);
  }
  return check.time("queue_target", queue_target, 1us, 1h)
      .time("queue_interval", queue_interval, queue_target, 1h)
      .first_error();
}

LoadShedder::LoadShedder(ShedSettings settings) : settings_(checked(settings)) {}

Cause LoadShedder::admit(const ShedRequest& request) noexcept {
  const Cause cause = judge(request);
  if (cause != Cause::kNone) shed_.fetch_add(1, std::memory_order_relaxed);
  return cause;
}

Cause LoadShedder::judge(const ShedRequest& request) noexcept {
  const bool old = too_old(elapsed(request.queued_since, request.now), request.now);
  if (request.deadline.expired(request.now)) return Cause::kExpiredBeforeStart;
  if (request.deadline.remaining(request.now) < expected_service()) return Cause::kShedDeadline;
  if (old) return Cause::kShedQueueAge;
  const std::size_t priority = std::min<std::size_t>(request.priority, settings_.shed_at_percent.size() - 1);
  if (request.load_percent >= settings_.shed_at_percent[priority]) return Cause::kShedPriority;
  return Cause::kNone;
}

bool LoadShedder::too_old(Duration age, Instant now) noexcept {
  const std::lock_guard held(lock_);
  if (now >= interval_end_) {
    // Not even the luckiest request of the interval was fast: the queue stands. No request at all is no overload.
    const bool stands = least_age_ != Duration::max() && least_age_ > settings_.queue_target;
    overloaded_.store(stands, std::memory_order_relaxed);
    least_age_ = Duration::max();
    interval_end_ = add_saturating(now, settings_.queue_interval);
  }
  least_age_ = std::min(least_age_, age);
  return overloaded_.load(std::memory_order_relaxed) && age > 2 * settings_.queue_target;
}

void LoadShedder::served(Duration took) noexcept {
  const Duration::rep sample = std::clamp(took, Duration::zero(), kLongestTime).count();
  Duration::rep expected = expected_.load(std::memory_order_relaxed);
  // The first sample is the average of itself; a lost race costs one sample's weight.
  expected_.store(expected == 0 ? sample : expected + (sample - expected) / 8, std::memory_order_relaxed);
}

}  // namespace spillway::resilience
