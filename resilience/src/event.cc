#include "spillway/resilience/event.h"

#include <bit>

namespace spillway::resilience {

const char* to_string(EventKind kind) noexcept {
  switch (kind) {
    case EventKind::kBreakerOpened: return "breaker_opened";
    case EventKind::kBreakerHalfOpened: return "breaker_half_opened";
    case EventKind::kBreakerClosed: return "breaker_closed";
    case EventKind::kBreakerForced: return "breaker_forced";
    case EventKind::kBreakerRateExceeded: return "breaker_rate_exceeded";
    case EventKind::kLimitChanged: return "limit_changed";
    case EventKind::kEndpointEjected: return "endpoint_ejected";
    case EventKind::kEndpointReturned: return "endpoint_returned";
    case EventKind::kDrainStarted: return "drain_started";
    case EventKind::kDrained: return "drained";
  }
  return "unknown";
}

EventQueue::EventQueue(std::size_t capacity)
    : mask_(std::bit_ceil(std::max<std::size_t>(capacity, 2)) - 1), cells_(std::make_unique<Cell[]>(mask_ + 1)) {
  for (std::size_t i = 0; i <= mask_; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
}

void EventQueue::push(const Event& event) noexcept {
  std::size_t head = head_.load(std::memory_order_relaxed);
  for (;;) {
    Cell& cell = cells_[head & mask_];
    const auto ahead = static_cast<std::ptrdiff_t>(cell.turn.load(std::memory_order_acquire) - head);
    if (ahead < 0) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (ahead > 0) {
      head = head_.load(std::memory_order_relaxed);
    } else if (head_.compare_exchange_weak(head, head + 1, std::memory_order_relaxed)) {
      cell.event = event;
      cell.turn.store(head + 1, std::memory_order_release);
      return;
    }
  }
}

bool EventQueue::pop(Event& event) noexcept {
  std::size_t tail = tail_.load(std::memory_order_relaxed);
  for (;;) {
    Cell& cell = cells_[tail & mask_];
    const auto ahead = static_cast<std::ptrdiff_t>(cell.turn.load(std::memory_order_acquire) - (tail + 1));
    if (ahead < 0) return false;
    if (ahead > 0) {
      tail = tail_.load(std::memory_order_relaxed);
    } else if (tail_.compare_exchange_weak(tail, tail + 1, std::memory_order_relaxed)) {
      event = cell.event;
      cell.turn.store(tail + mask_ + 1, std::memory_order_release);
      return true;
    }
  }
}

}  // namespace spillway::resilience
