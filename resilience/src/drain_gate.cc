#include "spillway/resilience/drain_gate.h"

namespace spillway::resilience {
namespace {

Event drain_event(EventKind kind, Instant at) noexcept {
  Event event{.at = at, .kind = kind};
  std::string_view("drain_gate").copy(event.source.data(), event.source.size() - 1);
  return event;
}

}  // namespace

void DrainGate::close(Instant now) noexcept {
  const std::lock_guard lock(mutex_);
  const std::uint64_t before = word_.fetch_or(kClosed, std::memory_order_acq_rel);
  if ((before & kClosed) != 0) return;
  closed_at_ = now;
  if (events_ != nullptr) {
    Event event = drain_event(EventKind::kDrainStarted, now);
    event.value = before;
    events_->push(event);
    if (before == 0) events_->push(drain_event(EventKind::kDrained, now));
  }
  if (before == 0) drained_.notify_all();
}

void DrainGate::leave_closed() noexcept {
  const std::lock_guard lock(mutex_);
  if (word_.fetch_sub(1, std::memory_order_acq_rel) != (kClosed | 1)) return;
  if (events_ != nullptr) events_->push(drain_event(EventKind::kDrained, closed_at_));
  drained_.notify_all();
}

bool DrainGate::drained() const noexcept {
  const std::lock_guard lock(mutex_);
  return word_.load(std::memory_order_acquire) == kClosed;
}

}  // namespace spillway::resilience
